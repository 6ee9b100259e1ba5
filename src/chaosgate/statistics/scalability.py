"""The Universal Scalability Law through the throughput of a sweep over loads, and the load of its peak.

X(N) = rate N / (1 + contention (N - 1) + coherency N (N - 1)), N the load: Gunther, "Guerrilla Capacity Planning"
(2007), chapter 4. Throughput is greatest at N* = sqrt((1 - contention) / coherency). The law is fitted to the
logarithms of the windows' rates by least squares: the spread between windows is taken to be in proportion to the rate,
as that of requests which share their window's weather is. N* being one of the parameters, its profile likelihood is at
hand; with the variance unknown its cut-off is RSS (1 + F / freedom) (Seber & Wild, "Nonlinear Regression", 1989,
section 5.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.model.fit import DoseWindow, RatePoint, Threshold
from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.outcomes import CURVE_POINTS, critical, open_ends
from chaosgate.statistics.screen import DROP_LEVEL
from chaosgate.units import Dimension, format_value

PARAMETERS = 3
MIN_LOADS = 4
MIN_WINDOWS = 6
"""Three degrees of freedom are left for the variance between windows: the quantile of Student's t is 3.2 there."""
CONTENTIONS = 40
REFINED = 17
"""Contentions tried around the best of the grid."""
MOST_CONTENTION = 0.999
"""At 1 a server handles one request after the other, and there is no peak."""
PEAKS = 160
BEYOND = 100.0
"""A peak so many times as high as the largest load is none: up to that load the law is straight by then."""


@dataclass(frozen=True)
class Rates:
    """Windows at loads above 0: their rates, all above 0, and how many requests they hold."""

    loads: Floats
    rates: Floats
    n: Floats
    left_out: int
    """Windows at load 0, or in which nothing came."""


@dataclass(frozen=True)
class Law:
    """The law by its peak, contention, and rate at load 1."""

    peak: float
    contention: float
    rate: float

    @property
    def coherency(self) -> float:
        """From the peak: (1 - contention) / peak^2."""
        return (1 - self.contention) / self.peak**2

    def throughput(self, loads: Floats) -> Floats:
        """The rate at each load."""
        return self.rate * np.exp(_shape(loads, self.peak, self.contention))


@dataclass(frozen=True)
class Scalability:
    """The rates of a sweep and the dimension of its loads."""

    windows: Rates
    dimension: Dimension

    def threshold(self) -> Threshold:
        """The load of the peak with its 95 % profile-likelihood interval, or the reason for none."""
        windows = self.windows
        loads = len(np.unique(windows.loads))
        if loads < MIN_LOADS:
            return self._refused(f"{loads} of {MIN_LOADS} loads above 0 needed brought a rate; add doses to the sweep")
        if len(windows.loads) < MIN_WINDOWS:
            return self._refused(f"{len(windows.loads)} of {MIN_WINDOWS} windows needed brought a rate; add windows")
        peaks = _peaks(windows.loads)
        peaks = _around(peaks, int(_profile(windows, peaks)[0].argmin()))
        squares, contentions = _profile(windows, peaks)
        best = int(squares.argmin())
        law = _law(windows, float(peaks[best]), float(contentions[best]))
        freedom = len(windows.loads) - PARAMETERS
        cut = float(squares[best]) * (1 + critical(freedom) / freedom)
        return self._judged(law, peaks, squares, cut)

    def _judged(self, law: Law, peaks: Floats, squares: Floats, cut: float) -> Threshold:
        first, last = float(self.windows.loads.min()), float(self.windows.loads.max())
        if law.peak >= last:
            return self._refused(
                f"throughput still rises at the last load, {format_value(last, self.dimension)}, which is only a lower "
                "bound of the peak; add larger loads"
            )
        if law.peak <= first:
            return self._refused(
                f"throughput falls from the first load on, {format_value(first, self.dimension)}, which is only an "
                "upper bound of the peak; add smaller loads"
            )
        if reason := self._misfit(law):
            return self._refused(reason)
        lower, upper = _ends(peaks, squares, cut)
        lower = lower if lower is not None and lower >= first else None
        upper = upper if upper is not None and upper <= last else None
        return self._fitted(law, float(squares.min()), lower, upper)

    def _misfit(self, law: Law) -> str | None:
        """Why the law is none for these rates: loads differ from it by more than windows of one load from each other.

        The F test for lack of fit, on the means of the logarithms (Seber & Wild 1989, section 2.1.5).
        """
        from scipy.special import fdtrc

        logs = np.log(self.windows.rates)
        loads, where, counts = np.unique(self.windows.loads, return_inverse=True, return_counts=True)
        means = np.bincount(where, logs) / counts
        lack, pure = len(loads) - PARAMETERS, len(logs) - len(loads)
        within = float(((logs - means[where]) ** 2).sum())
        off = float((counts * (means - np.log(law.throughput(loads))) ** 2).sum())
        if pure < 1 or within <= 0 or fdtrc(lack, pure, (off / lack) / (within / pure)) >= DROP_LEVEL / 10:
            return None
        return (
            "the law does not fit: the loads' rates differ from it by far more than those of windows at one load from "
            "each other"
        )

    def _fitted(self, law: Law, squares: float, lower: float | None, upper: float | None) -> Threshold:
        logs = np.log(self.windows.rates)
        total = float(((logs - logs.mean()) ** 2).sum())
        goodness = {
            "contention": law.contention,
            "coherency": law.coherency,
            "rate at load 1": law.rate,
            "peak rate": float(law.throughput(np.array([law.peak]))[0]),
            "spread": math.sqrt(squares / (len(logs) - PARAMETERS)),
            "r2": 1 - squares / total if total > 0 else 0.0,
        }
        found = self._threshold(open_ends(lower, upper))
        drawn = np.linspace(self.windows.loads.min(), self.windows.loads.max(), CURVE_POINTS)
        rates = law.throughput(drawn)
        curve = tuple(RatePoint(dose=float(x), rate=float(y), n=0) for x, y in zip(drawn, rates, strict=True))
        changes = {"outcome": "fitted", "value": law.peak, "lower": lower, "upper": upper}
        return found.model_copy(update={**changes, "rate_curve": curve, "goodness": goodness})

    def _refused(self, reason: str) -> Threshold:
        return self._threshold(reason)

    def _threshold(self, reason: str | None) -> Threshold:
        """A refusal with the observed rates, until more is known."""
        windows = self.windows
        loads, where = np.unique(windows.loads, return_inverse=True)
        counts, n = np.bincount(where), np.bincount(where, windows.n)
        rates = np.exp(np.bincount(where, np.log(windows.rates)) / counts)
        points = zip(loads, rates, n, strict=True)
        return Threshold(
            outcome="refused",
            value=None,
            lower=None,
            upper=None,
            n=int(n.sum()),
            windows=len(windows.loads),
            reason=reason,
            rates=tuple(RatePoint(dose=float(load), rate=float(rate), n=int(count)) for load, rate, count in points),
        )


def rates_of(windows: Sequence[DoseWindow]) -> Rates:
    """The rates of windows at loads above 0; a ValueError names a window whose numbers cannot be.

    At load 0 the law says nothing; a window in which nothing came has no logarithm. Both are left out.
    """
    for window in windows:
        amount = window.amount
        if not (math.isfinite(window.dose) and window.n >= 0 and (amount is None or math.isfinite(amount))):
            raise ValueError(f"read {window}; a finite dose, n >= 0 and a finite amount are needed")
    kept = [
        (window.dose, window.amount / window.seconds, window.n)
        for window in windows
        if window.dose > 0 and window.n > 0 and window.seconds > 0 and window.amount is not None and window.amount > 0
    ]
    loads, rates, n = np.array(kept, dtype=float).reshape(-1, 3).T
    return Rates(loads, rates, n, len(windows) - len(kept))


def _shape(loads: Floats, peak: float | Floats, contention: float | Floats) -> Floats:
    """ln X(N) - ln rate."""
    coherency = (1 - contention) / np.square(peak)
    found: Floats = np.log(loads / (1 + contention * (loads - 1) + coherency * loads * (loads - 1)))
    return found


def _peaks(loads: Floats) -> Floats:
    """Candidate peaks: evenly in the logarithm over the loads and beyond both ends."""
    least, most = float(loads.min()), float(loads.max())
    inner = np.geomspace(least, most, PEAKS)
    return np.concatenate(
        [np.geomspace(least / BEYOND, least, 20)[:-1], inner, np.geomspace(most, most * BEYOND, 41)[1:]]
    )


def _around(peaks: Floats, best: int) -> Floats:
    """The candidates, and more of them around the best."""
    low, high = peaks[max(best - 1, 0)], peaks[min(best + 1, len(peaks) - 1)]
    return np.unique(np.concatenate([peaks, np.geomspace(low, high, 2 * REFINED)]))


def _profile(windows: Rates, peaks: Floats) -> tuple[Floats, Floats]:
    """For each peak the least sum of squares over contentions, and the contention of it."""
    # Evenly in the square root: small contentions matter most.
    roots = np.linspace(0.0, math.sqrt(MOST_CONTENTION), CONTENTIONS)
    _, best = _least(windows, peaks, np.broadcast_to(roots**2, (len(peaks), CONTENTIONS)))
    around = np.sqrt(best)[:, np.newaxis] + roots[1] * np.linspace(-1, 1, REFINED)
    return _least(windows, peaks, np.clip(around, 0.0, roots[-1]) ** 2)


def _least(windows: Rates, peaks: Floats, contentions: Floats) -> tuple[Floats, Floats]:
    """The least sum of squares over each row of `contentions`, a row a peak, and the contention of it."""
    loads, where, counts = np.unique(windows.loads, return_inverse=True, return_counts=True)
    logs = np.log(windows.rates)
    means = np.bincount(where, logs) / counts
    within = float(((logs - means[where]) ** 2).sum())
    off = means - _shape(loads, peaks[:, np.newaxis, np.newaxis], contentions[..., np.newaxis])
    centred = off - (off * counts).sum(axis=-1, keepdims=True) / counts.sum()
    squares = within + (counts * centred**2).sum(axis=-1)
    best = squares.argmin(axis=1)
    rows = np.arange(len(peaks))
    return squares[rows, best], contentions[rows, best]


def _law(windows: Rates, peak: float, contention: float) -> Law:
    rate = math.exp(float((np.log(windows.rates) - _shape(windows.loads, peak, contention)).mean()))
    return Law(peak, contention, rate)


def _ends(peaks: Floats, squares: Floats, cut: float) -> tuple[float | None, float | None]:
    """The least and the greatest peak whose squares are at most `cut`; None at the border of what was tried."""
    inside = np.flatnonzero(squares <= cut)
    low, high = int(inside[0]), int(inside[-1])
    return (
        None if low == 0 else _between(peaks, squares, low, low - 1, cut),
        None if high == len(peaks) - 1 else _between(peaks, squares, high, high + 1, cut),
    )


def _between(peaks: Floats, squares: Floats, inside: int, outside: int, cut: float) -> float:
    """Where between two candidates the squares reach `cut`: as a parabola over the logarithm of the peak does."""
    low, high, wanted = np.sqrt(np.array([squares[inside], squares[outside], cut]) - squares.min())
    part = (wanted - low) / (high - low)
    return float(peaks[inside] * (peaks[outside] / peaks[inside]) ** part)
