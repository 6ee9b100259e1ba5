"""Doses that separate: below a step hardly a request breaks, above it nearly all do, and no curve lies in between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import clopper_pearson
from chaosgate.statistics.likelihood import Counts

NEARLY_ALL = 0.95
"""A dose at which at least this share breaks lies above the step; at most 1 - this, below it."""


@dataclass(frozen=True)
class Bracket:
    """The highest dose that is surely below the threshold, the lowest that is surely above; None where none is."""

    lower: float | None
    upper: float | None


def separates(counts: Counts, share: float) -> bool:
    """Whether the likelihood of a rising curve has no maximum, or only stray requests keep it from having none.

    There is none when no request met the bound above the lowest dose at which one broke it (complete separation; quasi-
    complete when that dose has both: Albert & Anderson, Biometrika 71, 1984). Strays: every dose lies below the step,
    its share surely under `share`, or above it; a curve's steepness would then rest on the strays alone.
    """
    total = counts.by_dose()
    if total.doses[total.broken > 0].min() >= total.doses[total.broken < total.n].max():
        return True
    below = (total.shares <= 1 - NEARLY_ALL) & (_intervals(counts)[:, 1] < share)
    above = total.shares >= NEARLY_ALL
    step = int(below.sum())
    return bool((below | above).all() and below[:step].all())


def bracket(counts: Counts, share: float) -> Bracket:
    """The doses around the threshold: up to `lower` all 95 % intervals lie below `share`, from `upper` on all above.

    Each dose's interval is Clopper-Pearson's on its requests over the dispersion between its own windows.
    """
    doses, intervals = counts.by_dose().doses, _intervals(counts)
    below = np.logical_and.accumulate(intervals[:, 1] < share)
    above = np.logical_and.accumulate((intervals[:, 0] > share)[::-1])[::-1]
    return Bracket(
        float(doses[below].max()) if below.any() else None, float(doses[above].min()) if above.any() else None
    )


def _intervals(counts: Counts) -> Floats:
    rows = []
    for dose in np.unique(counts.doses):
        here = counts.at(dose)
        hits, n = float(here.broken.sum()), float(here.n.sum())
        effective = n / here.dispersion_within()[0]
        rows.append(clopper_pearson(hits / n * effective, effective))
    return np.array(rows)
