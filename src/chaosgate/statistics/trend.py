"""Whether numbers in an order rise or fall: a slope with its interval and a test, which no stray one decides.

Theil-Sen: the slope is the median of the slopes of all pairs, its interval that of Sen (JASA 63, 1968), the slopes that
Kendall's test does not refuse. Mann-Kendall: the test of Kendall's tau against the order (Mann, Econometrica 13, 1945),
exact for few numbers without ties. Both hold for errors of any one distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from chaosgate.statistics.binomial import LEVEL

MIN_POINTS = 5
"""Of four numbers even a strict order comes by chance in 2 of 24, which is more than 5 %."""


@dataclass(frozen=True)
class Trend:
    """The change from one number to the next, with its 95 % interval, and the p value of no trend."""

    slope: float
    lower: float
    upper: float
    p: float
    n: int

    @property
    def direction(self) -> Literal["rises", "falls", "none shown"]:
        """`rises` or `falls` where the test refuses that there is no trend and the whole interval lies on that side."""
        if self.p > 1 - LEVEL or self.lower <= 0 <= self.upper:
            return "none shown"
        return "rises" if self.slope > 0 else "falls"


def trend_of(values: Sequence[float]) -> Trend | None:
    """The trend of `values` in their order; None for fewer than MIN_POINTS."""
    if len(values) < MIN_POINTS:
        return None
    from scipy.stats import kendalltau, theilslopes

    order = list(range(len(values)))
    slope, _, lower, upper = theilslopes(values, order, LEVEL)
    # Of numbers that are all the same tau is not defined; nothing speaks against no trend then.
    p = 1.0 if min(values) == max(values) else float(kendalltau(order, values).pvalue)
    return Trend(float(slope), float(lower), float(upper), p, len(values))
