"""The 95 % interval of the difference between two independent runs, from the interval of each.

Requests within a window are not independent, so no test on pooled requests compares two runs. The interval of each run
carries the variance between its windows already; the two are combined by MOVER, the method of variance estimates
recovery: each end takes from either run the distance between its value and that end of its interval which matters
there. Newcombe, Statistics in Medicine 17 (1998) 873-890, method 10, for shares; Zou & Donner, Statistics in Medicine
27 (2008) 1693-1702, for whatever has an interval, asymmetric ones such as those of quantiles included.

Two runs of one spec send the same prompts at the same times; as far as that makes their values rise and fall together,
the interval is wider than it need be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Direction = Literal["higher", "lower", "undecided", "unknown"]
"""`undecided`: 0 lies within the interval. `unknown`: an end that would decide is missing."""


@dataclass(frozen=True)
class Arm:
    """One run's value with its 95 % interval; None where there is no number. A lower end of +inf is beyond any number.

    A bracket, within which nothing is known, has ends and no value.
    """

    value: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Difference:
    """Second run less first; None where there is no number. An end may be infinite where an arm's is."""

    value: float | None
    lower: float | None
    upper: float | None

    @property
    def direction(self) -> Direction:
        """On which side of 0 the whole interval lies; one end is enough for that."""
        if self.lower is not None and self.lower > 0:
            return "higher"
        if self.upper is not None and self.upper < 0:
            return "lower"
        return "unknown" if self.lower is None or self.upper is None else "undecided"


def difference(first: Arm, second: Arm) -> Difference:
    """`second` less `first`, with its 95 % interval. An end for which an arm lacks its own is None."""
    value = None if first.value is None or second.value is None else second.value - first.value
    fall = _least_rise(second, first)
    return Difference(value, _least_rise(first, second), None if fall is None else -fall)


def _least_rise(first: Arm, second: Arm) -> float | None:
    """The lower end of `second` less `first`.

    Where a value is missing, the ends themselves are taken: each is passed with a probability of 2.5 % only, and both
    together with no more than 5 % (Bonferroni).
    """
    if first.upper is None or second.lower is None:
        return None
    if first.value is None or second.value is None:
        return second.lower - first.upper
    return second.value - first.value - math.hypot(second.value - second.lower, first.upper - first.value)


def relative_difference(first: Arm, second: Arm) -> Difference:
    """`second` over `first` less 1, with its 95 % interval: the difference of their logarithms, taken back.

    MOVER holds for whatever has an interval, so for a logarithm too (Zou & Donner 2008, section 3). Nothing is relative
    to a first value that is not above 0. A second value of 0 has no logarithm; it is all of a fall, and the upper end
    is that of the two ends.
    """
    if first.value is None or first.value <= 0:
        return Difference(None, None, None)
    if second.value is not None and second.value <= 0:
        return Difference(-1.0, -1.0, _ratio_less_one(second.upper, first.lower))
    found = difference(_logged(first), _logged(second))
    return Difference(*(None if end is None else math.expm1(end) for end in (found.value, found.lower, found.upper)))


def _ratio_less_one(second: float | None, first: float | None) -> float | None:
    return None if second is None or first is None or first <= 0 else second / first - 1


def _logged(arm: Arm) -> Arm:
    return Arm(*(None if end is None else math.log(end) if end > 0 else -math.inf for end in _ends(arm)))


def _ends(arm: Arm) -> tuple[float | None, float | None, float | None]:
    return arm.value, arm.lower, arm.upper
