"""Whether two sets of windows differ: Kolmogorov-Smirnov for any difference, Mann-Whitney for larger or smaller values.

Both tests are made for independent values, and requests of a window are none. Each statistic is therefore held against
its distribution for fewer values: their number over the design effect of what the statistic is made of (Rao & Scott,
Annals of Statistics 12, 1984, whose correction of a chi-square by its mean design effect this is).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.intervals import DesignEffect
from chaosgate.statistics.means import Batch, mean_effect

LEAST = 1e-300
"""What a smaller probability is taken for: one that a computer holds as 0 has no normal statistic."""


@dataclass(frozen=True)
class Tested:
    """A test's statistic and its two-sided probability where nothing differs."""

    statistic: float
    p: float


Strata = Sequence[Sequence[Floats]]
"""Conditions, such as doses, each with its windows of values: what differs between them is no noise of windows."""


def kolmogorov_smirnov(first: Strata, second: Strata) -> Tested:
    """The largest distance between the distribution functions of two sides; +inf is a value like others.

    Its design effect is that of the share of values up to where the distance is largest. The probability is that of so
    many independent values, weakened by how well the design effect is known.
    """
    from scipy.stats import ks_2samp, kstwo, kstwobign

    one, two = pooled(first), pooled(second)
    found = ks_2samp(one, two, method="asymp")
    at = found.statistic_location
    effect = _effect([[(values <= at).astype(float) for values in group] for group in (*first, *second)])
    size = max(1, round(len(one) * len(two) / (len(one) + len(two)) / effect.value))
    if found.statistic == 1:
        # Of sides that separate no window tells anything at that value: the ranks do. The exact tail ends at 1.
        effect = rank_effect(first, second)
        size = max(1, round(len(one) * len(two) / (len(one) + len(two)) / effect.value))
        return Tested(1.0, weakened(float(kstwobign.sf(math.sqrt(size))), DesignEffect(1.0, effect.freedom)))
    p = min(1.0, float(kstwo.sf(found.statistic, size)))
    return Tested(float(found.statistic), weakened(p, DesignEffect(1.0, effect.freedom)))


def mann_whitney(first: Strata, second: Strata) -> Tested:
    """Whether values of `second` tend to be larger or smaller; its statistic is U, the pairs in which they are larger.

    Its design effect is that of the ranks. Its normal statistic is corrected for ties (Lehmann, "Nonparametrics", 1975,
    section 1.4); it is computed here, since the probability of independent values is often 0 to a computer.
    """
    from scipy.stats import rankdata

    one, two = pooled(first), pooled(second)
    values = np.concatenate([one, two])
    n, pairs = len(values), len(one) * len(two)
    larger = float(rankdata(values)[len(one) :].sum()) - len(two) * (len(two) + 1) / 2
    ties = np.unique(values, return_counts=True)[1].astype(float)
    variance = pairs / 12 * (n + 1 - float((ties**3 - ties).sum()) / (n * (n - 1)))
    # Where all values are the same nothing speaks for a difference.
    score = abs(larger - pairs / 2) / math.sqrt(variance) if len(ties) > 1 else 0.0
    return Tested(larger, _tail(score, rank_effect(first, second)))


def rank_effect(first: Strata, second: Strata) -> DesignEffect:
    """The design effect of the ranks of all values, each window's about those of its condition."""
    from scipy.stats import rankdata

    ranks = iter(rankdata(np.concatenate([pooled(first), pooled(second)])))
    return _effect([[np.array([next(ranks) for _ in values]) for values in group] for group in (*first, *second)])


def pooled(strata: Strata) -> Floats:
    """All values of `strata`, in their order."""
    return np.concatenate([values for group in strata for values in group])


def weakened(p: float, effect: DesignEffect) -> float:
    """The two-sided `p` of independent values, weakened by a design effect: its normal statistic over the root.

    The statistic is then Student's on the degrees of freedom behind the design effect.
    """
    from scipy.special import ndtri

    if not math.isfinite(p):
        return 1.0
    return _tail(-float(ndtri(max(p, LEAST) / 2)), effect) if effect.freedom else p


def _tail(score: float, effect: DesignEffect) -> float:
    """The two-sided probability of a normal statistic of independent values, weakened by `effect`."""
    from scipy.special import ndtr, stdtr

    weaker = -abs(score) / math.sqrt(effect.value)
    tail = stdtr(effect.freedom, weaker) if effect.freedom else ndtr(weaker)
    return min(1.0, 2 * float(tail))


def _effect(strata: Strata) -> DesignEffect:
    groups = [Batch(group) for group in strata]
    n = sum(float(group.counts.sum()) for group in groups)
    return mean_effect(groups, n / sum(len(group.windows) for group in groups))
