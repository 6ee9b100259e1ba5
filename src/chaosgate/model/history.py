"""How the gate compares a run with the runs before it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from chaosgate.model.base import Frozen, Name
from chaosgate.model.relative import RelativeBound

MIN_RUNS = 3
"""Accepted runs without which there is no comparison: of two, the spread rests on one degree of freedom."""


class HistoryBound(Frozen):
    """What an objective may differ from the mean of the history, in place of the band of the history."""

    objective: Name
    """The objective that is compared."""
    passes: Annotated[RelativeBound, Field(alias="pass")]
    """The change that passes, such as `<= +10 %`; the whole interval of the change must keep it."""
    warns: Annotated[RelativeBound | None, Field(alias="warn")] = None
    """The change up to which it only warns; without it, what does not pass fails."""

    @model_validator(mode="after")
    def _wider(self) -> HistoryBound:
        if self.warns is not None and (
            self.warns.upper != self.passes.upper or not self.warns.holds(self.passes.value)
        ):
            raise ValueError(
                f"`warn` must allow more than `pass` on the same side; read {self.warns} beside {self.passes}"
            )
        return self


class GateHistory(Frozen):
    """What `chaosgate gate` compares a run with: the last runs of the same spec that were accepted and sealed clean."""

    last: Annotated[int, Field(ge=MIN_RUNS, le=100)] = 5
    """How many of them at most, the latest first."""
    accept: Literal["pass", "warn"] = "pass"
    """Which verdict a run must have to be part of the history: `warn` accepts both."""
    bounds: tuple[HistoryBound, ...] = ()
    """Relative bounds of objectives; every other objective is held against the band of the history."""

    @model_validator(mode="after")
    def _once_each(self) -> GateHistory:
        names = [bound.objective for bound in self.bounds]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"objective {name!r} has {names.count(name)} bounds; give it one")
        return self
