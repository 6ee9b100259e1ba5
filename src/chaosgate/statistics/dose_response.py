"""From the counts of a sweep to its threshold: checks first, then the bracket or the fitted curve with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from chaosgate.model.fit import CurvePoint, DoseWindow, Threshold
from chaosgate.statistics.binomial import LEVEL
from chaosgate.statistics.bracket import bracket, separates
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
from chaosgate.statistics.screen import eventful, monotone, reached, usable
from chaosgate.units import Dimension, format_value

CURVE_POINTS = 50
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
            return self._refused(reason)
        if separates(self.counts, self.share):
            return self._bracketed()
        if reason := eventful(counts):
            return self._refused(reason)
        return self._fitted()

    def _refused(self, reason: str) -> Threshold:
        return self._threshold("refused", None, None, None, reason)

    def _bracketed(self) -> Threshold:
        found = bracket(self.counts, self.share)
        if found.lower is None or found.upper is None:
            side = "below" if found.lower is None else "above"
            return self._refused(
                f"too few requests: the doses separate, but at none the 95 % interval lies {side} "
                f"{format_value(self.share, 'share')}; hold the doses longer"
            )
        lower, upper = (format_value(dose, self.dimension) for dose in (found.lower, found.upper))
        reason = f"the doses separate: the threshold lies between {lower} and {upper}; no curve is drawn"
        return self._threshold("bracketed", None, found.lower, found.upper, reason)

    def _fitted(self) -> Threshold:
        total = self.counts.by_dose()
        curve = fit_curve(total, self.share)
        spread = dispersion(self.counts, curve)
        cut = deviance(total, curve) + spread * _critical(len(self.counts.n) - PARAMETERS)
        if flat_deviance(total) <= cut:
            return self._refused("the share that breaks the bound does not rise significantly with the dose")
        value = float(curve.threshold)
        if (reason := self._beyond(value)) is not None:
            return self._refused(reason)
        lower, upper = (_crossing(total, curve, float(end), cut) for end in total.doses[[0, -1]])
        fitted = self._threshold("fitted", value, lower, upper, self._open(lower, upper))
        goodness = {
            "deviance": deviance(self.counts, curve),
            "dispersion": spread,
            "background": float(curve.background),
        }
        return fitted.model_copy(update={"curve": self._curve(curve), "goodness": goodness})

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

    def _open(self, lower: float | None, upper: float | None) -> str | None:
        ends = [
            f"{name} end of the interval lies {where} dose"
            for name, where, end in (("lower", "before the first", lower), ("upper", "beyond the last", upper))
            if end is None
        ]
        return "the " + " and the ".join(ends) + " and is open" if ends else None

    def _threshold(
        self,
        outcome: Literal["fitted", "bracketed", "refused"],
        value: float | None,
        lower: float | None,
        upper: float | None,
        reason: str | None,
    ) -> Threshold:
        total = self.counts.by_dose()
        return Threshold(
            outcome=outcome,
            value=value,
            lower=lower,
            upper=upper,
            n=int(total.n.sum()),
            windows=len(self.counts.n),
            reason=reason,
            points=tuple(
                CurvePoint(dose=float(dose), share=float(share), n=int(n))
                for dose, share, n in zip(total.doses, total.shares, total.n, strict=True)
            ),
        )

    def _curve(self, curve: Curve) -> tuple[CurvePoint, ...]:
        """Points of the curve over the doses; they stand for no requests."""
        doses = np.linspace(self.counts.doses.min(), self.counts.doses.max(), CURVE_POINTS)
        shares = curve.breaks(doses)
        return tuple(
            CurvePoint(dose=float(dose), share=float(share), n=0) for dose, share in zip(doses, shares, strict=True)
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


def _critical(freedom: int) -> float:
    """The 95 % quantile of F on 1 and `freedom` degrees: the cut-off of a deviance over an estimated dispersion.

    McCullagh & Nelder (1989), 4.5; it tends to the chi-square quantile 3.84 of a known dispersion.
    """
    from scipy.special import fdtri

    return float(fdtri(1, freedom, LEVEL))


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
