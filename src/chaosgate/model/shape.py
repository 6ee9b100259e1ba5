"""How a dose moves within its window: not at all, up from nothing, or on and off. Factors of the dose, from 0 to 1."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from chaosgate.model.base import Frozen
from chaosgate.units import Duration, format_duration


class Pulse(Frozen):
    """On and off: the full dose for `width` at the beginning of every `period`, and nothing for the rest."""

    width: Annotated[Duration, Field(gt=0)]
    """How long the dose is on."""
    period: Annotated[Duration, Field(gt=0)]
    """From one beginning to the next."""

    @model_validator(mode="after")
    def _goes_off(self) -> Pulse:
        if self.width >= self.period:
            read = f"read `width: {format_duration(self.width)}` and `period: {format_duration(self.period)}`"
            raise ValueError(f"{read}, which never goes off; write a longer `period`, or leave `shape` out")
        return self


class Shape(Frozen):
    """How the dose moves from the moment its window opens. One of the two is written."""

    ramp: Annotated[Duration, Field(gt=0)] | None = None
    """The dose rises in a straight line from 0 and is there after so long."""
    pulse: Pulse | None = None
    """The dose is on and off in turn."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Shape:
        if (self.ramp is None) == (self.pulse is None):
            raise ValueError(
                "write one of `ramp: 5s` and `pulse: {width: 1s, period: 5s}`; a dose without one is constant"
            )
        return self

    def factor(self, seconds: float) -> float:
        """The part of the dose that is on `seconds` after the window opened."""
        if self.pulse is not None:
            return float(seconds % self.pulse.period < self.pulse.width)
        return min(1.0, max(0.0, seconds) / (self.ramp or 1.0))

    def mean(self, hold: float) -> float:
        """The mean of `factor` over a window of `hold` seconds."""
        if self.pulse is not None:
            whole, rest = divmod(hold, self.pulse.period)
            return (whole * self.pulse.width + min(rest, self.pulse.width)) / hold
        rising = min(self.ramp or 0.0, hold)
        return 1 - rising / hold + rising * self.factor(rising) / (2 * hold)

    def reached(self, hold: float) -> float:
        """The share of a window of `hold` seconds in which the dose is above 0."""
        return 1.0 if self.pulse is None else self.mean(hold)

    def objection(self, hold: float) -> str | None:
        """Why windows of `hold` seconds are too short for this shape; None where they are not."""
        key, needed = ("ramp", self.ramp or 0.0) if self.pulse is None else ("pulse.period", self.pulse.period)
        if needed <= hold:
            return None
        return (
            f"`shape.{key}` is {format_duration(needed)} and `dose.hold` {format_duration(hold)}: a window ends before "
            "the shape was seen once; hold the dose longer, or write a shorter one"
        )
