"""From the counts of a sweep to its threshold: checks first, then the bracket or the fitted curve with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.model.fit import DoseWindow, Threshold
from chaosgate.statistics.bracket import separates
from chaosgate.statistics.likelihood import (
    PARAMETERS,
    Counts,
    Curve,
    deviance,
    dispersion,
    fit_curve,
    flat_deviance,
    profile,
)
from chaosgate.statistics.outcomes import bracketed, critical, curve_points, open_ends, outcome, refused
from chaosgate.statistics.screen import eventful, monotone, reached, usable
from chaosgate.units import Dimension, format_value

PRECISION = 1e-4
"""How closely an end of the interval is found, as a part of the range of doses."""


@dataclass(frozen=True)
class DoseResponse:
    """The requests of a sweep, the share looked for and the dimension of its doses."""

    counts: Counts
    share: float
    dimension: Dimension

    def threshold(self) -> Threshold:
        """The fitted threshold, the bracketing doses, or the reason for neither."""
        counts, dimension = self.counts, self.dimension
        if reason := usable(counts) or reached(counts, self.share, dimension) or monotone(counts, dimension):
            return refused(counts, reason)
        if separates(self.counts, self.share):
            return bracketed(counts, self.share, dimension)
        if reason := eventful(counts):
            return refused(counts, reason)
        return self._fitted()

    def _fitted(self) -> Threshold:
        counts, total = self.counts, self.counts.by_dose()
        curve = fit_curve(total, self.share)
        spread = dispersion(counts, curve)
        cut = deviance(total, curve) + spread * critical(len(counts.n) - PARAMETERS)
        if flat_deviance(total) <= cut:
            return refused(counts, "the share that breaks the bound does not rise significantly with the dose")
        value = float(curve.threshold)
        if (reason := self._beyond(value)) is not None:
            return refused(counts, reason)
        lower, upper = (_crossing(total, curve, float(end), cut) for end in total.doses[[0, -1]])
        found = outcome(counts, "fitted", value, lower, upper, open_ends(lower, upper))
        goodness = {
            "deviance": deviance(counts, curve),
            "dispersion": spread,
            "background": float(curve.background),
            "parameters": float(PARAMETERS),
        }
        return found.model_copy(update={"curve": curve_points(counts.doses, curve.breaks), "goodness": goodness})

    def _beyond(self, threshold: float) -> str | None:
        """Why a threshold outside the doses is none."""
        lowest, highest = float(self.counts.doses.min()), float(self.counts.doses.max())
        if lowest <= threshold <= highest:
            return None
        below, end = threshold < lowest, lowest if threshold < lowest else highest
        side, word, size = ("before the first", "upper", "smaller") if below else ("beyond the last", "lower", "larger")
        return (
            f"the fitted curve reaches {format_value(self.share, 'share')} {side} dose, "
            f"{format_value(end, self.dimension)}, which is only a {word} bound of the threshold; add {size} doses"
        )


def counts_of(windows: Sequence[DoseWindow]) -> Counts:
    """The windows that hold requests; a ValueError names a window whose numbers cannot be."""
    for window in windows:
        if not (math.isfinite(window.dose) and 0 <= window.broken <= window.n):
            raise ValueError(f"read {window}; a finite dose and 0 <= broken <= n are needed")
    filled = [window for window in windows if window.n > 0]
    columns = [(window.dose, window.broken, window.n) for window in filled]
    doses, broken, n = np.array(columns, dtype=float).reshape(-1, 3).T
    return Counts(doses, broken, n)


def _crossing(counts: Counts, curve: Curve, end: float, cut: float) -> float | None:
    """Where between the curve's threshold and `end` the profile deviance reaches `cut`; None when it does not."""
    from scipy.optimize import brentq

    best = float(curve.threshold)

    def above(threshold: float) -> float:
        candidate = curve if threshold == best else profile(counts, curve.share, threshold)
        return deviance(counts, candidate) - cut

    if above(end) <= 0:
        return None
    return float(brentq(above, best, end, xtol=PRECISION * float(np.ptp(counts.doses))))
