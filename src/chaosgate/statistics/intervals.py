"""95 % intervals for shares and quantiles of requests that come in windows.

Requests within a window share its weather and are not independent, so a window is a cluster and the variance between
windows widens every interval. A group is a set of windows under one condition; each is compared with its own mean.

Sources: Kish, "Survey Sampling" (1965) and Rao & Scott, Biometrics 48 (1992) for the design effect; Korn & Graubard,
Survey Methodology 24 (1998) for Clopper-Pearson on an effective sample size with estimated design effect; Hesterberg,
The American Statistician 69 (2015) for percentile intervals of few clusters; Conover, "Practical Nonparametric
Statistics" (1999) and Meeker, Hahn & Escobar, "Statistical Intervals" (2017) for order statistics; Woodruff, JASA 47
(1952) for the variance of a quantile through the share below it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import TAIL, clopper_pearson

OWN_WINDOWS = 6
"""From so many windows on their own variance is used; fewer are too noisy (2 degrees of freedom at 3 windows)."""
RESAMPLES = 10_000
"""Enough for the widened tail probabilities of few windows: at 6 windows 0.0024, the 24th smallest of them."""


@dataclass(frozen=True)
class Group:
    """Windows under one condition: `hits` of `counts` requests in each, counts above 0."""

    hits: Floats
    counts: Floats

    @property
    def share(self) -> float:
        """Hits of all windows over requests of all windows."""
        return float(self.hits.sum() / self.counts.sum())


@dataclass(frozen=True)
class DesignEffect:
    """How many times the variance between windows exceeds that of independent requests, and how well that is known.

    `freedom` is the degrees of freedom behind `ratio`; 0 means that nothing varied, and 1 is then an assumption.
    """

    ratio: float
    """As measured; below 1 by chance only."""
    freedom: int

    @property
    def value(self) -> float:
        """The design effect, never below 1: requests that share a window do not tell more than independent ones."""
        return max(1.0, self.ratio)

    def effective(self, n: float) -> float:
        """How many independent requests would tell as much as these `n`: n / max(1, ratio * (t / z)^2).

        t / z, the t quantile over the normal one, pays for the ratio being an estimate (Korn & Graubard 1998): the
        interval is the wider of that of independent requests and the t interval between windows.
        """
        return float(effective_sizes(n, np.array([self.ratio]), np.array([float(self.freedom)]))[0])


def effective_sizes(n: float, ratios: Floats, freedoms: Floats) -> Floats:
    """`DesignEffect.effective` of many design effects at once, each given by its ratio and degrees of freedom."""
    from scipy.special import ndtri, stdtrit

    known = freedoms > 0
    student = stdtrit(np.where(known, freedoms, 1), 1 - TAIL) / ndtri(1 - TAIL)
    sizes: Floats = n / np.maximum(1.0, np.where(known, ratios * student**2, 1.0))
    return sizes


def design_effect(groups: Sequence[Group], size: float) -> DesignEffect:
    """The design effect of windows of `size` requests, pooled over `groups`.

    Within a group of m windows it is the variance of a ratio estimator between windows, m / (m - 1) * sum (hits -
    share * counts)^2 / n^2, over the binomial variance share * (1 - share) / n (Kish 1965; Rao & Scott 1992). Groups
    are weighted by their m - 1 degrees of freedom, which add up. A group whose windows are larger or smaller than
    `size` enters through the intraclass correlation: deff - 1 grows with requests a window - 1 (Kish 1965). A group of
    one window, or at a share of 0 or 1, says nothing and is left out.
    """
    ratios, freedoms = design_effects([(group.hits[np.newaxis], group.counts) for group in groups], size)
    return DesignEffect(float(ratios[0]), int(freedoms[0]))


def design_effects(groups: Sequence[tuple[Floats, Floats]], size: float) -> tuple[Floats, Floats]:
    """`design_effect` at many limits at once: ratios and degrees of freedom, one a limit.

    Each group is its hits, limits by windows, and its windows' counts.
    """
    limits = len(groups[0][0]) if groups else 1
    excess, freedom = np.zeros(limits), np.zeros(limits)
    for hits, counts in groups:
        m, n = len(counts), float(counts.sum())
        if m < 2 or n <= m:
            continue
        shares = hits.sum(axis=1) / n
        telling = (shares > 0) & (shares < 1)
        squares = ((hits - shares[:, np.newaxis] * counts) ** 2).sum(axis=1)
        ratios = m / (m - 1) * squares / np.where(telling, n * shares * (1 - shares), 1.0)
        excess += np.where(telling, (m - 1) * (ratios - 1) * max(size - 1, 0) / (n / m - 1), 0.0)
        freedom += np.where(telling, m - 1, 0)
    return 1 + np.where(freedom > 0, excess / np.maximum(freedom, 1), 0.0), freedom


def common_effect(groups: Sequence[Group], share: float, size: float) -> DesignEffect:
    """`design_effect` of groups that all have one `share`, as they have where nothing changed between them.

    Each group's variance between windows is held against the binomial one of `share`. So a group of which no request,
    or every one, is a hit tells too: its windows agree. Its degrees of freedom are not lost, as they are where a group
    is compared with its own share alone. At a share of 0 or 1 nothing varies.
    """
    excess, freedom = 0.0, 0
    for group in groups if 0 < share < 1 else ():
        m, n = len(group.counts), float(group.counts.sum())
        if m < 2 or n <= m:
            continue
        squares = float(((group.hits - group.share * group.counts) ** 2).sum())
        ratio = m / (m - 1) * squares / (n * share * (1 - share))
        excess += (m - 1) * (ratio - 1) * max(size - 1, 0.0) / (n / m - 1)
        freedom += m - 1
    return DesignEffect(1 + excess / freedom if freedom else 1.0, freedom)


def share_interval(strata: Sequence[Group], borrowed: Sequence[Group], seed: int) -> tuple[float, float]:
    """The interval of the share over all windows of `strata`; `borrowed` are groups alike.

    Fewer than OWN_WINDOWS windows, or a share of 0 or 1: Clopper-Pearson on the effective sample size (Korn & Graubard
    1998), its design effect pooled with the borrowed groups. It is exact at 0 and 1, where a bootstrap is a point, and
    never covers less than 95 % there, as Wilson's interval does.
    Else: the window bootstrap, but never inside Clopper-Pearson on n over the windows' own design effect. A few windows
    that happen to agree, or hits in one window only, make a bootstrap interval that is narrower than that of
    independent requests and lacks the binomial's skewness at small shares; so the wider end is taken.
    """
    hits, counts = _totals(strata)
    windows = sum(len(group.counts) for group in strata)
    if windows < OWN_WINDOWS or hits in (0, counts):
        n = design_effect([*strata, *borrowed], counts / windows).effective(counts)
        return clopper_pearson(hits / counts * n, n)
    n = counts / design_effect(strata, counts / windows).value
    lower, upper = clopper_pearson(hits / counts * n, n)
    low, high = bootstrap(strata, seed)
    return min(lower, low), max(upper, high)


def bootstrap(strata: Sequence[Group], seed: int) -> tuple[float, float]:
    """The expanded percentile interval of the share when whole windows are resampled within their stratum.

    A plain percentile interval of m windows is too short: it lacks the factor m / (m - 1) of the variance and the t
    quantile. Its tails are therefore taken at Phi(-sqrt(m / df) * t_df) (Hesterberg 2015), df = windows - strata.
    """
    from scipy.special import ndtr, stdtrit

    random = np.random.default_rng(seed)
    hits, counts = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for group in strata:
        m = len(group.counts)
        times = random.multinomial(m, np.full(m, 1 / m), size=RESAMPLES)
        hits += times @ group.hits
        counts += times @ group.counts
    windows = sum(len(group.counts) for group in strata)
    freedom = windows - len(strata)
    tail = float(ndtr(-math.sqrt(windows / freedom) * stdtrit(freedom, 1 - TAIL)))
    low, high = np.quantile(hits / counts, [tail, 1 - tail])
    return float(low), float(high)


def _totals(groups: Sequence[Group]) -> tuple[float, float]:
    return sum(float(group.hits.sum()) for group in groups), sum(float(group.counts.sum()) for group in groups)


def needed(quantile: float) -> int:
    """The smallest number of independent values whose extremes bound `quantile` at 95 %: P95 72, P99 368.

    Of n values all lie on one side of the quantile with probability p^n, p the larger of quantile and 1 - quantile;
    p^n <= 2.5 % gives n >= ln .025 / ln p (Meeker, Hahn & Escobar 2017, ch. 5).
    """
    return math.ceil(math.log(TAIL) / math.log(max(quantile, 1 - quantile)))
