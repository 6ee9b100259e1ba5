"""Whole answers kept for requests that ask the same again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chaosgate.engine.runtime.sequence import Delta, Generation

KEPT = 1024
"""Answers that are kept; the one that was asked for longest ago goes first."""


class ResponseCache:
    """Answers by the `fields` of their requests; without fields it keeps none.

    A request with hooks is neither answered from it nor kept: its answer is that of its faults.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = tuple(fields)
        self._answers: OrderedDict[Any, tuple[Delta, ...]] = OrderedDict()

    def find(self, generation: Generation, now: float) -> tuple[Delta, ...]:
        """The tokens of an answer to a request that is equal in all fields, made `now`; empty when there is none."""
        key = self._key(generation)
        if key not in self._answers:
            return ()
        self._answers.move_to_end(key)
        return tuple(replace(delta, at=now, queued=0.0) for delta in self._answers[key])

    def keep(self, generation: Generation, answer: Sequence[Delta]) -> None:
        """Keeps a finished answer."""
        key = self._key(generation)
        if key is None:
            return
        self._answers[key] = tuple(answer)
        if len(self._answers) > KEPT:
            self._answers.popitem(last=False)

    def _key(self, generation: Generation) -> Any:
        if not self._fields or generation.hooks is not None:
            return None
        return tuple(getattr(generation, name) for name in self._fields)
