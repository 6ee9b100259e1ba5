"""The 95 % interval of a quantile: each value is tried as an end, by the share of requests at or below it.

Woodruff (JASA 47, 1952): a value bounds the quantile from above when the interval of the share at or below it lies at
or above the quantile's own. With independent requests that gives the order statistics of Conover, "Practical
Nonparametric Statistics" (1999). Each value is tried with the design effect at that value, because hiccups that move
the body of a distribution from window to window need not move its tail.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import clopper_pearson
from chaosgate.statistics.intervals import DesignEffect, Group, design_effect
from chaosgate.statistics.ranks import quantile_rank

TELLING = 5
"""Fewer values beyond a limit do not tell how they cluster: the design effect there is that of the fifth outermost.

Five is the smallest expected count of Cochran (Biometrics 10, 1954).
"""


@dataclass(frozen=True)
class RankedValues:
    """The values of the windows that are judged, by stratum, and of windows alike, by group; each non-empty.

    A value may be +inf: that of a request which never came to its end. Value and ends are then +inf where so many are.
    """

    strata: Sequence[Sequence[Floats]]
    borrowed: Sequence[Sequence[Floats]]
    pooled: Floats
    """All judged values, sorted."""

    @property
    def n(self) -> int:
        """How many values are judged."""
        return len(self.pooled)

    def value(self, quantile: float) -> float:
        """The quantile of the pooled values."""
        return float(self.pooled[quantile_rank(quantile, self.n) - 1])

    def effect(self, rank: int) -> DesignEffect:
        """The design effect of the share at or below the value of `rank`, pooled with the groups alike.

        Each of those is cut at its own value of the same share. The judged windows alone are too few: at 6 windows
        every twentieth quiet run would have no upper end for its P95.
        """
        rank = min(max(rank, TELLING), max(self.n - TELLING, 1))
        groups = [count_at_most(stratum, float(self.pooled[rank - 1])) for stratum in self.strata]
        groups += [count_at_most(group, _own_value(group, rank / self.n)) for group in self.borrowed]
        return design_effect(groups, self.n / sum(len(stratum) for stratum in self.strata))

    def upper(self, quantile: float) -> float | None:
        """The smallest value that is surely at or above the quantile; None when no value is."""
        for rank in range(quantile_rank(quantile, self.n), self.n + 1):
            effective = self.effect(rank).effective(self.n)
            if clopper_pearson(rank / self.n * effective, effective)[0] >= quantile:
                return float(self.pooled[rank - 1])
        return None

    def lower(self, quantile: float) -> float | None:
        """The largest value that is surely at or below the quantile; None when no value is."""
        for rank in range(quantile_rank(quantile, self.n), 0, -1):
            effective = self.effect(rank).effective(self.n)
            if clopper_pearson((rank - 1) / self.n * effective, effective)[1] <= quantile:
                return float(self.pooled[rank - 1])
        return None


def count_at_most(windows: Sequence[Floats], limit: float) -> Group:
    """How many values of each window lie at or below `limit`; at an infinite one, how many are finite.

    What happens infinitely often in some windows and hardly in others is a cluster like any other; counted among the
    values at or below infinity it would show no variance at all.
    """
    limit = min(limit, sys.float_info.max)
    hits = [float(np.count_nonzero(values <= limit)) for values in windows]
    return Group(np.array(hits), np.array([float(len(values)) for values in windows]))


def _own_value(group: Sequence[Floats], share: float) -> float:
    values = np.sort(np.concatenate(group))
    return float(values[quantile_rank(share, len(values)) - 1])
