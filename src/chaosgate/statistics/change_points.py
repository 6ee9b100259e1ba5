"""When a series of numbers, one a window, changed its level: by ranks, so that no distribution is assumed.

The strongest change of a stretch is where the ranks before and after differ most, by the standardised sum of ranks
(Pettitt, Applied Statistics 28, 1979). Its p value comes from permuting the windows: exact where the windows of a level
are exchangeable, which windows long enough to forget each other are. More changes are sought on both sides of one found
(binary segmentation: Scott & Knott, Biometrics 30, 1974; Vostrikova, Soviet Mathematics Doklady 24, 1981), the level
of the test shared out by length, so that a series without any change gives a false alarm with `level` at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import LEVEL

ALARMS = 0.04
"""How often a series of one level raises an alarm. The permutation test is exact: at 5 % every other count of 1,000
series without a change would lie above 5 %."""
SIDE = 3
"""Windows on either side of a change: fewer are outliers."""
PERMUTATIONS = 1999
"""The least p value is 1 in 2,000: a fiftieth of the level, for a stretch of a fiftieth of the series."""
SEEN_PERMUTATIONS = 499
"""When a change could be told is sought window by window; the change itself was tested with more."""
INTERVAL_PERMUTATIONS = 199
"""A p value of 5 % is told from 2 % and from 9 % (two standard errors)."""


@dataclass(frozen=True)
class Change:
    """A change of level; places are indexes of windows.

    `at` is the first window of the new level; `lower` and `upper` are the ends of its 95 % interval. `seen` is the
    window with which it could first be told from chance, knowing nothing later; None where it took the whole series.
    """

    at: int
    lower: int
    upper: int
    seen: int | None
    p: float
    before: float
    """The median of the level before, back to the change before it."""
    after: float


def change_points(values: Floats, seed: int, level: float = ALARMS) -> list[Change]:
    """The changes of `values` in their order, none for a series of one level; repeatable from `seed`.

    `values` are finite. Of several series that are searched together each gets its part of `level`.
    """
    random = np.random.default_rng(seed)
    found = _relocated(values, sorted(_split(values, 0, len(values), level, random)))
    ends = [0, *found, len(values)]
    return [
        _described(values, (before, at, after), level, random)
        for before, at, after in zip(ends, ends[1:], ends[2:], strict=False)
    ]


def autocorrelation(values: Floats, changes: list[Change]) -> float:
    """The correlation of a window with the one before it, about their levels; 0 where nothing varies.

    Well above 0, windows do not forget each other and the p values are too small.
    """
    ends = [0, *(change.at for change in changes), len(values)]
    rest = np.concatenate([_ranks(values[low:high]) - (high - low + 1) / 2 for low, high in pairwise(ends)])
    squares = float((rest**2).sum())
    return float((rest[1:] * rest[:-1]).sum()) / squares if squares > 0 else 0.0


def _split(values: Floats, start: int, end: int, level: float, random: np.random.Generator) -> Iterator[int]:
    """The changes between `start` and `end`, each found with its share of `level`."""
    if end - start < 2 * SIDE:
        return
    share = level * (end - start) / len(values)
    if share < 1 / (PERMUTATIONS + 1):
        return
    ranks = _ranks(values[start:end])
    if _p_value(ranks, PERMUTATIONS, random) > share:
        return
    at = start + _strongest(ranks)
    yield at
    yield from _split(values, start, at, level, random)
    yield from _split(values, at, end, level, random)


def _relocated(values: Floats, found: list[int]) -> list[int]:
    """Each change where it is strongest between its neighbours: at first it was sought among more than two levels."""
    ends = [0, *found, len(values)]
    for index in range(1, len(ends) - 1):
        low, high = ends[index - 1], ends[index + 1]
        ends[index] = low + _strongest(_ranks(values[low:high]))
    return ends[1:-1]


def _described(values: Floats, stretch: tuple[int, int, int], level: float, random: np.random.Generator) -> Change:
    start, at, end = stretch
    ranks = _ranks(values[start:end])
    lower, upper = _interval(ranks, at - start, random)
    return Change(
        at=at,
        lower=start + lower,
        upper=start + upper,
        seen=_seen(values, stretch, level, random),
        p=_p_value(ranks, PERMUTATIONS, random),
        before=float(np.median(values[start:at])),
        after=float(np.median(values[at:end])),
    )


def _seen(values: Floats, stretch: tuple[int, int, int], level: float, random: np.random.Generator) -> int | None:
    start, at, end = stretch
    permutations = max(SEEN_PERMUTATIONS, math.ceil(2 / level))
    for last in range(at + SIDE, end + 1):
        if _p_value(_ranks(values[start:last]), permutations, random) <= level:
            return last - 1
    return None


def _interval(ranks: Floats, at: int, random: np.random.Generator) -> tuple[int, int]:
    """The least and the greatest place, without a gap between, that the data do not speak against.

    A place is tested by how much stronger the strongest change is than the one there; were the change there, the
    windows before it could be exchanged, and those after it (inversion of a permutation test).
    """
    lower = upper = at
    while lower > SIDE and _possible(ranks, lower - 1, random):
        lower -= 1
    while upper < len(ranks) - SIDE and _possible(ranks, upper + 1, random):
        upper += 1
    return lower, upper


def _possible(ranks: Floats, at: int, random: np.random.Generator) -> bool:
    def excess(rows: Floats) -> Floats:
        strengths = _strengths(rows)
        return np.asarray(strengths.max(axis=1) - strengths[:, at - SIDE])

    rows = np.repeat(ranks[np.newaxis], INTERVAL_PERMUTATIONS, axis=0)
    drawn = np.concatenate([random.permuted(rows[:, :at], axis=1), random.permuted(rows[:, at:], axis=1)], axis=1)
    seen = excess(ranks[np.newaxis])[0]
    return bool((1 + (excess(drawn) >= seen).sum()) / (INTERVAL_PERMUTATIONS + 1) > 1 - LEVEL)


def _p_value(ranks: Floats, permutations: int, random: np.random.Generator) -> float:
    """How often permuted windows show as strong a change (Phipson & Smyth, Statistical Applications in Genetics and
    Molecular Biology 9, 2010: the order that was seen counts as one of them)."""
    if np.ptp(ranks) == 0:
        return 1.0
    drawn = random.permuted(np.repeat(ranks[np.newaxis], permutations, axis=0), axis=1)
    seen = _strengths(ranks[np.newaxis]).max()
    # Rounding makes equal sums differ in their last digit.
    return float((1 + (_strengths(drawn).max(axis=1) >= seen * (1 - 1e-9)).sum()) / (permutations + 1))


def _strongest(ranks: Floats) -> int:
    """How many windows lie before the strongest change."""
    return SIDE + int(_strengths(ranks[np.newaxis])[0].argmax())


def _strengths(rows: Floats) -> Floats:
    """Of each row the squared standardised sum of ranks before each place from SIDE to length - SIDE."""
    n = rows.shape[1]
    before = np.arange(SIDE, n - SIDE + 1)
    sums = np.cumsum(rows - rows.mean(axis=1, keepdims=True), axis=1)[:, before - 1]
    variance = rows.var(axis=1, keepdims=True)
    strengths: Floats = sums**2 * (n / (before * (n - before))) / np.where(variance > 0, variance, 1.0)
    return strengths


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, equal values at the mean of theirs; by hand, since scipy.stats takes a second to load."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[where]
    return ranks
