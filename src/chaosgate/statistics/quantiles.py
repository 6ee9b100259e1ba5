"""The 95 % interval of a quantile: each value is tried as an end, by the share of values at or below it.

Woodruff (JASA 47, 1952): a value bounds the quantile from above when the interval of the share at or below it lies at
or above the quantile's own. With independent requests that gives the order statistics of Conover, "Practical
Nonparametric Statistics" (1999). Each value is tried with the design effect at that value, because hiccups that move
the body of a distribution from window to window need not move its tail.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import TAIL
from chaosgate.statistics.intervals import DesignEffect, design_effects, effective_sizes
from chaosgate.statistics.ranks import quantile_rank

TELLING = 5
"""Fewer values beyond a limit do not tell how they cluster: the design effect there is that of the fifth outermost.

Five is the smallest expected count of Cochran (Biometrics 10, 1954).
"""
BATCHES = (64, 4096)
"""How many values are tried at once: the first time, and at most; twice as many each time in between."""

Ranks = npt.NDArray[np.int64]


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
        ratios, freedoms = self._effects(np.array([rank]))
        return DesignEffect(float(ratios[0]), int(freedoms[0]))

    def upper(self, quantile: float) -> float | None:
        """The smallest value that is surely at or above the quantile; None when no value is."""
        for ranks in _batches(quantile_rank(quantile, self.n), self.n, 1):
            sizes = self._effective(ranks)
            sure = _lower_ends(ranks / self.n * sizes, sizes) >= quantile
            if sure.any():
                return float(self.pooled[ranks[sure.argmax()] - 1])
        return None

    def lower(self, quantile: float) -> float | None:
        """The largest value that is surely at or below the quantile; None when no value is."""
        for ranks in _batches(quantile_rank(quantile, self.n), 1, -1):
            sizes = self._effective(ranks)
            sure = _upper_ends((ranks - 1) / self.n * sizes, sizes) <= quantile
            if sure.any():
                return float(self.pooled[ranks[sure.argmax()] - 1])
        return None

    def _effective(self, ranks: Ranks) -> Floats:
        return effective_sizes(self.n, *self._effects(ranks))

    def _effects(self, ranks: Ranks) -> tuple[Floats, Floats]:
        ranks = np.minimum(np.maximum(ranks, TELLING), max(self.n - TELLING, 1))
        limits = self.pooled[ranks - 1]
        groups = [count_at_most(stratum, limits) for stratum in self._sorted_strata]
        groups += [count_at_most(group, _own_values(group, ranks / self.n)) for group in self._sorted_borrowed]
        return design_effects(groups, self.n / sum(len(stratum) for stratum in self.strata))

    @cached_property
    def _sorted_strata(self) -> list[SortedWindows]:
        return [SortedWindows.of(stratum) for stratum in self.strata]

    @cached_property
    def _sorted_borrowed(self) -> list[SortedWindows]:
        return [SortedWindows.of(group) for group in self.borrowed]


@dataclass(frozen=True)
class SortedWindows:
    """The values of a group of windows: of each window, and of all together, sorted."""

    windows: tuple[Floats, ...]
    pooled: Floats

    @classmethod
    def of(cls, group: Sequence[Floats]) -> SortedWindows:
        """Sorted copies of `group`."""
        return cls(tuple(np.sort(values) for values in group), np.sort(np.concatenate(group)))


def count_at_most(group: SortedWindows, limits: Floats) -> tuple[Floats, Floats]:
    """How many values of each window lie at or below each limit (limits by windows), and how many there are.

    At an infinite limit it is how many are finite. What happens infinitely often in some windows and hardly in others
    is a cluster like any other; counted among the values at or below infinity it would show no variance at all.
    """
    limits = np.minimum(limits, sys.float_info.max)
    hits = [np.searchsorted(values, limits, side="right") for values in group.windows]
    return np.stack(hits, axis=-1).astype(float), np.array([float(len(values)) for values in group.windows])


def _own_values(group: SortedWindows, shares: Floats) -> Floats:
    """The value of `group` at each of `shares`; the rank is that of `quantile_rank`."""
    n = len(group.pooled)
    ranks = np.clip(np.ceil(np.round(shares * n, 9)).astype(np.int64), 1, n)
    return group.pooled[ranks - 1]


def _batches(first: int, last: int, step: int) -> Iterator[Ranks]:
    """The ranks from `first` to `last`, in batches that grow: most intervals end near their beginning."""
    begin, size = first, BATCHES[0]
    while (last - begin) * step >= 0:
        end = begin + step * size
        ranks = np.arange(begin, end, step)
        yield ranks[(last - ranks) * step >= 0]
        begin, size = end, min(2 * size, BATCHES[1])


def _lower_ends(hits: Floats, n: Floats) -> Floats:
    """`clopper_pearson` of many shares at once, its lower ends; 0 where there are no hits."""
    from scipy.special import betaincinv

    some = hits > 0
    ends: Floats = np.where(some, betaincinv(np.where(some, hits, 1.0), n - hits + 1, TAIL), 0.0)
    return ends


def _upper_ends(hits: Floats, n: Floats) -> Floats:
    """`clopper_pearson` of many shares at once, its upper ends; 1 where all are hits."""
    from scipy.special import betaincinv

    some = hits < n
    ends: Floats = np.where(some, betaincinv(hits + 1, np.where(some, n - hits, 1.0), 1 - TAIL), 1.0)
    return ends
