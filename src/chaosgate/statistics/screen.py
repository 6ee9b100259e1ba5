"""What a sweep must show before a curve is fitted to it; each check gives the sentence that refuses it, or None.

`share` is the one that the threshold is to break, `dimension` that of the doses, for the sentences.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from chaosgate.statistics.likelihood import MIN_CURVE_WINDOWS, Counts
from chaosgate.units import Dimension, format_value

MIN_DOSES = 3
MIN_EVENTS = 10
"""Breaks, and requests that met the bound: 5 for each of threshold and steepness (Vittinghoff & McCulloch, American
Journal of Epidemiology 165, 2007, find 5 to 9 events a variable acceptable)."""
DROP_LEVEL = 0.05
"""Level of the test for a drop."""


def usable(counts: Counts, least: int = MIN_DOSES, windows: int = MIN_CURVE_WINDOWS) -> str | None:
    """At least `least` doses and `windows` windows hold requests."""
    doses = len(np.unique(counts.doses))
    if doses < least:
        return f"{doses} of {least} doses needed hold requests, dose 0 included; add doses to the sweep"
    if len(counts.n) < windows:
        return f"{len(counts.n)} of {windows} windows needed hold requests; add windows to each dose"
    return None


def reached(counts: Counts, share: float, dimension: Dimension) -> str | None:
    """Some dose lies below the share and some dose at or above it."""
    total = counts.by_dose()
    lowest, highest = (format_value(float(dose), dimension) for dose in total.doses[[0, -1]])
    wanted = format_value(share, "share")
    if total.shares.max() < share:
        most = format_value(float(total.shares.max()), "share")
        return f"no dose up to {highest} reached {wanted}: at most {most} broke the bound; add larger doses"
    if total.shares.min() >= share:
        least = format_value(float(total.shares.min()), "share")
        return f"every dose from {lowest} on reached {wanted}: at least {least} broke the bound; loosen the bound"
    return None


def monotone(counts: Counts, dimension: Dimension) -> str | None:
    """No dose breaks significantly fewer requests than a smaller one.

    Every pair of doses is compared by the two-sample score test for shares, one-sided, its variance multiplied by the
    dispersion between windows within doses and its quantile taken from Student's t on that dispersion's degrees of
    freedom; the level of 5 % is divided by the number of pairs (Bonferroni).
    """
    from scipy.special import ndtri, stdtrit

    total = counts.by_dose()
    pairs = list(combinations(range(len(total.doses)), 2))
    spread, freedom = counts.dispersion_within()
    tail = 1 - DROP_LEVEL / len(pairs)
    critical = float(stdtrit(freedom, tail) if freedom else ndtri(tail))
    worst = max(pairs, key=lambda pair: _drop(total, *pair))
    if _drop(total, *worst) <= critical * math.sqrt(spread):
        return None
    low, high = (format_value(float(total.doses[index]), dimension) for index in worst)
    before, after = (format_value(float(total.shares[index]), "share") for index in worst)
    return f"not monotone: {before} broke the bound at {low} and {after} at {high}; no threshold separates the doses"


def _drop(total: Counts, low: int, high: int) -> float:
    """The score statistic of how far the share falls from dose `low` to dose `high`; 0 where neither varies."""
    n = total.n[[low, high]]
    pooled = float(total.broken[[low, high]].sum() / n.sum())
    variance = pooled * (1 - pooled) * float((1 / n).sum())
    return float(total.shares[low] - total.shares[high]) / math.sqrt(variance) if variance > 0 else 0.0


def eventful(counts: Counts) -> str | None:
    """Enough requests broke the bound, and enough met it, for a curve."""
    broken = int(counts.broken.sum())
    met = int(counts.n.sum()) - broken
    for number, what in ((broken, "broke"), (met, "met")):
        if number < MIN_EVENTS:
            return f"{number} of {MIN_EVENTS} requests needed {what} the bound; hold the doses longer"
    return None
