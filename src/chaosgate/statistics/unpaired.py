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


@dataclass(frozen=True)
class Tested:
    """A test's statistic and its two-sided probability where nothing differs."""

    statistic: float
    p: float


Strata = Sequence[Sequence[Floats]]
"""Conditions, such as doses, each with its windows of values: what differs between them is no noise of windows."""


def kolmogorov_smirnov(first: Strata, second: Strata) -> Tested:
    """The largest distance between the distribution functions of two sides; +inf is a value like others.

    Its design effect is that of the share of values up to where the distance is largest.
    """
    from scipy.stats import ks_2samp, kstwo

    one, two = pooled(first), pooled(second)
    found = ks_2samp(one, two, method="asymp")
    at = found.statistic_location
    effect = _effect([[(values <= at).astype(float) for values in group] for group in (*first, *second)])
    sizes = effect.effective(len(one)), effect.effective(len(two))
    size = max(1, round(sizes[0] * sizes[1] / sum(sizes)))
    return Tested(float(found.statistic), min(1.0, float(kstwo.sf(found.statistic, size))))


def mann_whitney(first: Strata, second: Strata) -> Tested:
    """Whether values of `second` tend to be larger or smaller; its statistic is U, the pairs in which they are larger.

    Its design effect is that of the ranks.
    """
    from scipy.stats import mannwhitneyu, rankdata

    one, two = pooled(first), pooled(second)
    found = mannwhitneyu(two, one, alternative="two-sided", method="asymptotic", use_continuity=False)
    ranks = iter(rankdata(np.concatenate([one, two])))
    ranked = [[np.array([next(ranks) for _ in values]) for values in group] for group in (*first, *second)]
    return Tested(float(found.statistic), weakened(float(found.pvalue), _effect(ranked)))


def pooled(strata: Strata) -> Floats:
    """All values of `strata`, in their order."""
    return np.concatenate([values for group in strata for values in group])


def weakened(p: float, effect: DesignEffect) -> float:
    """The two-sided `p` of independent values, weakened by a design effect: its normal statistic over the root.

    The statistic is then Student's on the degrees of freedom behind the design effect.
    """
    from scipy.special import ndtri, stdtr

    if p <= 0 or not math.isfinite(p):
        return p if p == 0 else 1.0
    score = -float(ndtri(p / 2)) / math.sqrt(effect.value)
    if not effect.freedom:
        return p
    return min(1.0, 2 * float(stdtr(effect.freedom, -score)))


def _effect(strata: Strata) -> DesignEffect:
    groups = [Batch(group) for group in strata]
    n = sum(float(group.counts.sum()) for group in groups)
    return mean_effect(groups, n / sum(len(group.windows) for group in groups))
