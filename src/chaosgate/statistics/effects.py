"""How large a difference between two sets of windows is, whatever the values' unit and distribution: Cliff's delta.

The variance is that of the placements, the share of the other set that a value exceeds, with windows as clusters:
DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988); Obuchowski, Biometrics 53 (1997) for clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import clopper_pearson
from chaosgate.statistics.means import Batch, mean_effect
from chaosgate.statistics.unpaired import Strata, pooled, rank_effect


@dataclass(frozen=True)
class Effect:
    """Cliff's delta with its 95 % interval, from -1 (every second value is smaller) to 1 (every one is larger)."""

    value: float
    lower: float
    upper: float

    @property
    def probability(self) -> float:
        """A12 of Vargha & Delaney: how often a second value is the larger one, a tie counted as half of that."""
        return (self.value + 1) / 2


def cliffs_delta(first: Strata, second: Strata) -> Effect:
    """The effect from the values of `first` to those of `second`; +inf is a value.

    Delta is P(second > first) - P(second < first) (Cliff, Psychological Bulletin 114, 1993). The interval is that of a
    share with as much variance, so that it ends at -1 and 1. Where the sets separate there is no variance to see; it is
    then that of as many pairs as the smaller set has values, the most variance that there can be (Birnbaum & Klose,
    Annals of Mathematical Statistics 28, 1957), over the design effect of the ranks: windows are clusters there, too.
    """
    one, two = pooled(first), pooled(second)
    above = [Batch([_exceeded(values, one) for values in group]) for group in second]
    below = [Batch([1 - _exceeded(values, two) for values in group]) for group in first]
    share = sum(float(group.sums.sum()) for group in above) / len(two)
    variance = _variance(above) + _variance(below)
    most = share * (1 - share)
    least = float(min(len(one), len(two)))
    telling = most / variance if variance > 0 and most > 0 else rank_effect(first, second).effective(least)
    lower, upper = clopper_pearson(min(max(share, 0.0), 1.0) * telling, telling)
    return Effect(2 * share - 1, 2 * lower - 1, 2 * upper - 1)


def _exceeded(values: Floats, others: Floats) -> Floats:
    """The share of `others` that each of `values` exceeds, ties counted as half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, values, side="left") + np.searchsorted(ordered, values, side="right")
    shares: Floats = below / (2 * len(ordered))
    return shares


def _variance(placements: Sequence[Batch]) -> float:
    """The variance of the mean of `placements`, windows being clusters within their condition."""
    n = sum(float(group.counts.sum()) for group in placements)
    effect = mean_effect(placements, n / sum(len(group.windows) for group in placements))
    return sum(group.squares for group in placements) / n / effect.effective(n)
