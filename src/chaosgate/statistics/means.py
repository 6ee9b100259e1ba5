"""95 % intervals of means: of real values of requests that come in windows, and of one number a window.

Requests within a window share its weather, so a window is a cluster. The mean of requests is a ratio estimator, the sum
of all values over their number; its variance between windows is that of Kish, "Survey Sampling" (1965) and Rao & Scott,
Biometrics 48 (1992), as for shares. A mean of values from 0 to 1 has the interval of a share with as much variance:
Clopper-Pearson on the number of independent zeros and ones that would tell as much (Korn & Graubard, Survey Methodology
24, 1998, whose effective sample size this is when the values are zeros and ones). It stays within 0 and 1 and is as
skewed as it should be close to them, where a t interval is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import TAIL, clopper_pearson
from chaosgate.statistics.intervals import OWN_WINDOWS, DesignEffect


@dataclass(frozen=True)
class Batch:
    """Windows under one condition: the values of each, one at least."""

    windows: Sequence[Floats]

    @property
    def counts(self) -> Floats:
        """How many values each window has."""
        return np.array([float(len(values)) for values in self.windows])

    @property
    def sums(self) -> Floats:
        """What they add up to in each window."""
        return np.array([float(values.sum()) for values in self.windows])

    @property
    def squares(self) -> float:
        """The sum of the squared distances of all values from their mean."""
        values = np.concatenate(self.windows)
        # What is left of equal values is rounding, and would be taken for a variance.
        return 0.0 if values.min() == values.max() else float(((values - values.mean()) ** 2).sum())


def mean_effect(groups: Sequence[Batch], size: float) -> DesignEffect:
    """The design effect of windows of `size` values, pooled over `groups`; see `intervals.design_effect`.

    The variance of independent values is that of the values themselves; for zeros and ones it is the binomial one. A
    group of one window, or one in which nothing varies, says nothing.
    """
    excess, freedom = 0.0, 0
    for group in groups:
        m, counts, squares = len(group.windows), group.counts, group.squares
        n = float(counts.sum())
        if m < 2 or n <= m or squares == 0:
            continue
        between = float(((group.sums - float(group.sums.sum()) / n * counts) ** 2).sum())
        ratio = m / (m - 1) * between / squares
        excess += (m - 1) * (ratio - 1) * max(size - 1, 0.0) / (n / m - 1)
        freedom += m - 1
    return DesignEffect(1 + excess / freedom if freedom else 1.0, freedom)


def mean_interval(strata: Sequence[Batch], borrowed: Sequence[Batch], bounded: bool) -> tuple[float, float]:
    """The interval of the mean of all values of `strata`; `bounded` values lie from 0 to 1. `borrowed` are alike.

    The design effect is that of the windows themselves; of fewer than OWN_WINDOWS, or where nothing varies in them, it
    is pooled with the borrowed groups. Of values without bounds it is the wider of the t interval of independent values
    and that between windows. Values that are all the same have, where they are bounded, the interval of so many zeros
    or ones; else the interval is a point.
    """
    n = sum(float(each.counts.sum()) for each in strata)
    windows = sum(len(each.windows) for each in strata)
    mean = sum(float(each.sums.sum()) for each in strata) / n
    squares = sum(each.squares for each in strata)
    alone = windows >= OWN_WINDOWS and squares > 0
    effect = mean_effect(strata if alone else [*strata, *borrowed], n / windows)
    if bounded:
        telling = effect.effective(n)
        return bounded_interval(mean, squares / n / telling, telling)
    independent = _half(squares / max(n - len(strata), 1.0) / n, n - len(strata))
    half = max(independent, _between(squares / n**2, effect))
    return mean - half, mean + half


def _between(variance: float, effect: DesignEffect) -> float:
    """Half the t interval between windows, of a mean whose variance is `variance` where values are independent."""
    return _half(max(effect.ratio, 0.0) * variance, effect.freedom) if effect.freedom else 0.0


def _half(variance: float, freedom: float) -> float:
    """Half of Student's interval for a mean of this variance."""
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 1.0), 1 - TAIL)) * math.sqrt(variance)


def window_interval(strata: Sequence[Batch], borrowed: Sequence[Batch], bounded: bool, n: float) -> tuple[float, float]:
    """The interval of the mean over windows that have one number each; `n` requests are behind all of `strata`.

    A t interval on the variance between windows within their condition, pooled with the borrowed groups where `strata`
    have fewer than OWN_WINDOWS. Where no window differs from another it is, of bounded numbers, the interval of `n`
    zeros or ones, else a point.
    """
    from scipy.special import ndtri

    windows = sum(len(each.windows) for each in strata)
    groups = strata if windows >= OWN_WINDOWS else [*strata, *borrowed]
    freedom = sum(len(each.windows) - 1 for each in groups)
    mean = sum(float(each.sums.sum()) for each in strata) / windows
    variance = sum(each.squares for each in groups) / freedom / windows
    half = _half(variance, freedom)
    if bounded:
        return bounded_interval(mean, (half / float(ndtri(1 - TAIL))) ** 2, n)
    return mean - half, mean + half


def bounded_interval(mean: float, variance: float, n: float) -> tuple[float, float]:
    """The interval of a mean of values from 0 to 1 whose variance is `variance`, that of `n` of them where it is 0.

    It is Clopper-Pearson's for the number of zeros and ones whose mean has that variance: mean * (1 - mean) / variance.
    """
    inner = min(max(mean, 0.0), 1.0)
    most = inner * (1 - inner)
    telling = most / variance if variance > 0 and most > 0 else n
    lower, upper = clopper_pearson(inner * telling, telling)
    # Of very many zeros and ones the ends are rounded across their mean.
    return min(lower, inner), max(upper, inner)
