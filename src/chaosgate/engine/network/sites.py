"""Where the forward pass hands arrays to the hooks of the requests in a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaosgate.model.sites import Phase, SiteContext, Transform


@dataclass(frozen=True)
class Part:
    """One request's rows in a batch, tokens `first` and on of its sequence, with its transforms by full site name."""

    rows: slice
    first: int
    phase: Phase
    request: str
    tenant: str | None
    transforms: Mapping[str, Transform]

    @property
    def count(self) -> int:
        """How many rows."""
        return int(self.rows.stop - self.rows.start)


class Tap:
    """The hooked requests of one batch; a batch without one has no tap.

    A transform that raises, or gives back another shape, changes nothing; its request's index and what happened are in
    `failed`, for the request must not go on as if it had been hit.
    """

    def __init__(self, parts: Mapping[int, Part]) -> None:
        self.parts = parts
        self.failed: dict[int, str] = {}

    def on(self, site: str) -> Iterator[int]:
        """Indices of the requests that have a hook at `site`."""
        return (index for index, part in self.parts.items() if site in part.transforms)

    def among(self, requests: Sequence[int], site: str) -> Iterator[tuple[int, int]]:
        """Those of `requests` with a hook at `site`, each after its place among `requests`."""
        hooked = set(self.on(site))
        return ((place, request) for place, request in enumerate(requests) if request in hooked)

    def rows(self, site: str, array: Any, layer: int | None = None, heads: int | None = None) -> Any:
        """`array`, one row a token, with each hooked request's rows transformed; others keep theirs."""
        changed = array
        for index in self.on(site):
            rows = self.parts[index].rows
            if changed is array:
                changed = array.copy()
            changed[rows] = self.call(index, site, array[rows], layer, heads=heads)
        return changed

    def call(
        self, index: int, site: str, array: Any, layer: int | None = None, *, expert: int | None = None,
        heads: int | None = None, last: bool = False,
    ) -> Any:  # fmt: skip
        """What the hook of request `index` at `site` makes of `array`; `last` says it belongs to the last token."""
        part = self.parts[index]
        first, count = (part.first + part.count - 1, 1) if last else (part.first, part.count)
        context = SiteContext(site, layer, expert, first, count, part.phase, part.request, part.tenant, heads)
        try:
            return transformed(part.transforms[site], array, context)
        except HookError as error:
            self.fail(index, str(error))
            return array

    def fail(self, index: int, message: str) -> None:
        """Marks request `index` as failed; the first message stays."""
        self.failed.setdefault(index, message)


class HookError(Exception):
    """A transform that did not do its part."""


def transformed(transform: Transform, array: Any, context: SiteContext) -> Any:
    """The transform's answer, in the dtype of `array`; HookError where it raises or answers in another shape."""
    try:
        answer = np.asarray(transform(array, context)).astype(array.dtype, copy=False)
    except Exception as error:
        raise HookError(f"the hook at {context.site} raised {type(error).__name__}: {error}") from error
    if answer.shape != array.shape:
        raise HookError(f"the hook at {context.site} was given shape {array.shape} and answered {answer.shape}")
    return answer
