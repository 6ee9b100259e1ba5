"""When the answers of a service count as steady, before anything is measured of it."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, model_validator

from chaosgate.model.base import Frozen
from chaosgate.units import Bound, Duration, format_duration


def _default_bound() -> Bound:
    return Bound.parse(">= 85 %")


class SemanticSteadyState(Frozen):
    """When the answers count as steady: the mean of a window of samples keeps a bound some windows in a row.

    A window slides by one sample, as one over a live metric does: 3 windows of 12 samples in a row take 14 samples. All
    of this lies between the warm-up and the baseline's own windows, which follow when `within` is over.
    """

    scorer: str
    """The SLI that scores answers from 0 to 1: answer-accuracy, or one that compares them with those of the baseline's
    windows, such as exact-match."""
    every: Annotated[Duration, Field(ge=0.5, le=600)] = 5.0
    """How long a sample is: its score is the mean of the requests that arrive in it."""
    window: Annotated[int, Field(ge=1, le=1000)] = 12
    """Samples of a window."""
    in_a_row: Annotated[int, Field(ge=1, le=1000)] = 3
    """Windows in a row that must keep the bound."""
    bound: Bound = Field(default_factory=_default_bound)
    """What the mean of a window must keep; `>= 85 %` where it is left out."""
    within: Annotated[Duration, Field(gt=0)] = 120.0
    """How long this may take after the warm-up; the load runs for all of it."""

    @model_validator(mode="after")
    def _long_enough(self) -> SemanticSteadyState:
        if self.samples < self.window + self.in_a_row - 1:
            needed = (self.window + self.in_a_row - 1) * self.every
            raise ValueError(
                f"`within` has room for {self.samples} samples; {self.in_a_row} windows of {self.window} in a row take "
                f"{format_duration(needed)}: write at least that, or a smaller `window`"
            )
        return self

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return math.floor(self.within / self.every + 1e-9)
