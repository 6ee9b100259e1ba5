"""Lengths that are drawn, of prompts in words and of answers in tokens: each is a quantile function."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from chaosgate.model.base import Frozen

MAX_WORDS = 200_000
"""The longest prompt that is made, in words: a little over a megabyte."""
MAX_ANSWER_TOKENS = 32_768
"""The longest answer that a request may ask for, in tokens."""

Length = Annotated[int, Field(ge=1, le=MAX_WORDS)]
_EDGE = 1e-12
"""How near 0 and 1 a normal quantile is asked for: at them it is infinite."""


class FixedLength(Frozen):
    """The same length always."""

    distribution: Literal["fixed"]
    """One value."""
    value: Length
    """The length."""

    def at(self, share: float) -> int:
        """The length that a `share` in [0, 1) of the draws stays below."""
        return self.value

    @property
    def longest(self) -> int:
        """The longest that can be drawn."""
        return self.value


class _Between(Frozen):
    """Lengths with bounds: the distribution is cut at them and its rest keeps its form, so none heaps up there."""

    min: Length = 1
    """The shortest."""
    max: Length
    """The longest."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"read `min: {self.min}` above `max: {self.max}`; write the smaller one as `min`")
        return self

    @property
    def longest(self) -> int:
        """The longest that can be drawn."""
        return self.max


class UniformLength(_Between):
    """Every length between two bounds as often as any other."""

    distribution: Literal["uniform"]
    """All alike."""

    def at(self, share: float) -> int:
        """The length that a `share` in [0, 1) of the draws stays below."""
        return self.min + int(share * (self.max - self.min + 1))


class NormalLength(_Between):
    """Lengths around a mean."""

    distribution: Literal["normal"]
    """The bell curve, rounded to whole numbers."""
    mean: Annotated[float, Field(gt=0, le=MAX_WORDS)]
    """The mean before it is cut at the bounds."""
    std: Annotated[float, Field(gt=0, le=MAX_WORDS)]
    """The standard deviation before it is cut at the bounds."""

    @model_validator(mode="after")
    def _reaches(self) -> NormalLength:
        _check_reach(self, NormalDist(self.mean, self.std), self.min, self.max)
        return self

    def at(self, share: float) -> int:
        """The length that a `share` in [0, 1) of the draws stays below."""
        return _cut(NormalDist(self.mean, self.std), share, self.min, self.max, float)


class LognormalLength(_Between):
    """Lengths with a long tail: their logarithm is normal, as is often found of prompts."""

    distribution: Literal["lognormal"]
    """A long tail, rounded to whole numbers."""
    median: Annotated[float, Field(gt=0, le=MAX_WORDS)]
    """The length that half of all stay below, before it is cut at the bounds."""
    sigma: Annotated[float, Field(gt=0, le=10)]
    """The standard deviation of the natural logarithm: at 1 the longest 16 in 100 are 2.7 times the median or more."""

    @model_validator(mode="after")
    def _reaches(self) -> LognormalLength:
        normal = NormalDist(math.log(self.median), self.sigma)
        _check_reach(self, normal, math.log(self.min), math.log(self.max))
        return self

    def at(self, share: float) -> int:
        """The length that a `share` in [0, 1) of the draws stays below."""
        return _cut(NormalDist(math.log(self.median), self.sigma), share, self.min, self.max, math.log)


LengthDistribution = FixedLength | UniformLength | NormalLength | LognormalLength
"""Every distribution, told apart by `distribution`."""


def _cut(normal: NormalDist, share: float, low: int, high: int, scale: Any) -> int:
    """The quantile of `normal` between its bounds, by inversion: F^-1(F(low) + u (F(high) - F(low)))."""
    bottom, top = normal.cdf(scale(low)), normal.cdf(scale(high))
    value = normal.inv_cdf(min(max(bottom + share * (top - bottom), _EDGE), 1 - _EDGE))
    length = math.exp(value) if scale is math.log else value
    return min(max(round(length), low), high)


def _check_reach(model: _Between, normal: NormalDist, low: float, high: float) -> None:
    if model.min < model.max and normal.cdf(high) - normal.cdf(low) < 1e-6:
        raise ValueError(
            f"nearly no draw lies between `min: {model.min}` and `max: {model.max}`; write bounds around the middle"
        )
