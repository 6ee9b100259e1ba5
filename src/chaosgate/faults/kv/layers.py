"""What all faults of keys and values have in common: the layers they act on, and who may read what they leave."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosgate.model.fault import EngineFault

LAST = 3
"""How many of the last layers a fault acts on unless told otherwise."""


class KVFault(EngineFault):
    """A fault of the keys or values of single requests."""

    layers: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1, max_length=1024)] | None = None
    """The layers it acts on, counted from 0; left out, the last three of the model."""
    shares: bool = False
    """Whether requests that begin alike may find what it left in the cache, while its window lasts: then it harms its
    neighbours, too. All requests of such a window share among themselves alone, from an empty cache on."""

    def sharing(self) -> bool:
        """As `shares` says."""
        return self.shares

    def at(self, part: str, layers: int) -> tuple[str, ...]:
        """The sites of `part`, such as `attention.k`, in its layers of a model that has so many."""
        chosen = range(max(0, layers - LAST), layers) if self.layers is None else self.layers
        return tuple(f"layer.{layer}.{part}" for layer in chosen)
