"""What every breaker is. No kind is registered yet, so a spec's list of breakers must be empty."""

from __future__ import annotations

from chaosgate.model.base import Frozen, Name
from chaosgate.registry import Registry


class Breaker(Frozen):
    """A circuit breaker of a spec: armed with a fitted threshold and proved on held-out doses."""

    name: Name
    """The name by which verdict and report refer to it."""
    kind: str
    """The registered kind."""


BREAKERS: Registry[Breaker] = Registry("breaker kind", Breaker)
