"""The binomial-logistic dose response: its likelihood, its maximum, and the profile of the threshold.

P(break at dose x) = background + (1 - background) * logistic(steepness * (x - midpoint)). The background is the share
that breaks at any dose (natural response: Abbott, Journal of Economic Entomology 18, 1925; Finney, "Probit Analysis",
1971). The parameters are the threshold, where P passes `share`, the steepness and the background; the threshold itself
being one, its profile likelihood is at hand. Dispersion: McCullagh & Nelder, "Generalized Linear Models" (1989), 4.5;
Fletcher, Biometrika 99 (2012) for sparse counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaosgate.statistics.arrays import Floats

PARAMETERS = 3
MIN_CURVE_WINDOWS = PARAMETERS + 1
"""One degree of freedom is left for the dispersion."""
STEEPNESSES = (0.01, 300.0)
"""The least and the greatest rise of the log odds over the range of doses.

At 0.01 a curve is flat; at 300 it goes from 5 % to 95 % within a fiftieth of the range, where hardly a dose lies in
between, and its shares are still far from the smallest floating-point number.
"""
MOST_BACKGROUND = 0.999
"""The greatest background, as a part of the share looked for: at the whole of it no dose would be the threshold."""


@dataclass(frozen=True)
class Counts:
    """`broken` of `n` requests at `doses`, one entry a window; every n is above 0."""

    doses: Floats
    broken: Floats
    n: Floats

    def by_dose(self) -> Counts:
        """The same requests with one entry a dose, in rising order."""
        doses, where = np.unique(self.doses, return_inverse=True)
        broken, n = (np.bincount(where, column).astype(float) for column in (self.broken, self.n))
        return Counts(doses, broken, n)

    def at(self, dose: float) -> Counts:
        """The windows at one dose."""
        here = self.doses == dose
        return Counts(self.doses[here], self.broken[here], self.n[here])

    @property
    def shares(self) -> Floats:
        """The observed shares."""
        return self.broken / self.n

    def dispersion_within(self) -> tuple[float, int]:
        """Pearson's chi-square of windows about their dose's share over its degrees of freedom, at least 1, and these.

        Doses at a share of 0 or 1 do not vary and are left out.
        """
        total = self.by_dose()
        where = np.searchsorted(total.doses, self.doses)
        varies = (total.broken > 0) & (total.broken < total.n)
        inner = varies[where]
        freedom = int(inner.sum() - varies.sum())
        if freedom == 0:
            return 1.0, 0
        return max(1.0, _pearson(self, total.shares[where], inner) / freedom), freedom


@dataclass(frozen=True)
class Curve:
    """A curve by the dose at which it passes `share`, its steepness per dose unit and its background below `share`.

    Threshold, steepness and background may also be columns of numbers, for as many curves; shares then are rows.
    """

    threshold: float | Floats
    steepness: float | Floats
    background: float | Floats
    share: float

    def logits(self, doses: Floats) -> Floats:
        """The log odds that a dose breaks a request that the background spares."""
        return self.steepness * (doses - self.threshold) + np.log((self.share - self.background) / (1 - self.share))

    def breaks(self, doses: Floats) -> Floats:
        """The share that breaks at each dose."""
        return self.background + (1 - self.background) * _logistic(self.logits(doses))

    def meets(self, doses: Floats) -> Floats:
        """The share that does not: 1 - breaks, without its rounding."""
        return (1 - self.background) * _logistic(-self.logits(doses))


def deviance(counts: Counts, curve: Curve) -> float:
    """Twice the log likelihood of the observed shares less that of the curve."""
    return float(_deviances(counts, curve.breaks(counts.doses), curve.meets(counts.doses)))


def deviance_of(counts: Counts, shares: Floats) -> float:
    """The deviance of `shares`, one for each entry of `counts`; infinite where they exclude what was seen."""
    return float(_deviances(counts, shares, 1 - shares))


def saturated_loss(counts: Counts) -> float:
    """The negative log likelihood of the observed shares themselves: the least that any curve can have."""
    from scipy.special import xlogy

    met = counts.n - counts.broken
    return -float((xlogy(counts.broken, counts.shares) + xlogy(met, met / counts.n)).sum())


def flat_deviance(counts: Counts) -> float:
    """The deviance of one share for all doses."""
    share = counts.broken.sum() / counts.n.sum()
    return float(_deviances(counts, share, 1 - share))


def _deviances(counts: Counts, breaks: Floats, meets: Floats) -> Floats:
    """One deviance a row of `breaks` and `meets`."""
    from scipy.special import xlogy

    met = counts.n - counts.broken
    best = xlogy(counts.broken, counts.shares) + xlogy(met, met / counts.n)
    terms = best - xlogy(counts.broken, breaks) - xlogy(met, meets)
    return np.asarray(2 * terms.sum(axis=-1))


def dispersion(counts: Counts, curve: Curve) -> float:
    """How many times the windows vary more about the curve than binomially, at least 1.

    Pearson's chi-square over its degrees of freedom (McCullagh & Nelder 1989), divided by 1 + the mean of
    (1 - 2p)(y - np) / (np(1 - p)) (Fletcher 2012): without the divisor one stray break where hardly any is expected
    counts as dispersion without limit, and many windows with neither hide it. Needs MIN_CURVE_WINDOWS windows.
    """
    return dispersion_about(counts, curve.breaks(counts.doses), PARAMETERS, curve.meets(counts.doses))


def dispersion_about(counts: Counts, shares: Floats, parameters: int, meets: Floats | None = None) -> float:
    """`dispersion` about `shares`, one a window, none of them 0 or 1, of a curve with so many parameters.

    `meets` is 1 - shares, without its rounding, where that is known.
    """
    p, q = shares, 1 - shares if meets is None else meets
    variance, off = counts.n * p * q, counts.broken - counts.n * p
    pearson = float((off**2 / variance).sum()) / (len(counts.n) - parameters)
    divisor = 1 + float(((q - p) * off / variance).mean())
    return max(1.0, pearson / divisor) if divisor > 0 else max(1.0, pearson)


def fit_curve(counts: Counts, share: float) -> Curve:
    """The curve of greatest likelihood among those that rise; its threshold may lie a range of doses off either end."""
    low, high = float(counts.doses.min()), float(counts.doses.max())
    return _most_likely(counts, share, (2 * low - high, 2 * high - low))


def profile(counts: Counts, share: float, threshold: float) -> Curve:
    """The curve of greatest likelihood among those that rise and pass `share` at `threshold`."""
    return _most_likely(counts, share, (threshold, threshold))


def _most_likely(counts: Counts, share: float, thresholds: tuple[float, float]) -> Curve:
    """The best curve of a grid, improved by L-BFGS-B: with a background the likelihood may have several maxima."""
    from scipy.optimize import minimize

    range_ = float(np.ptp(counts.doses))
    start = _best_of_grid(counts, share, thresholds)
    bounds = [
        (thresholds[0] / range_, thresholds[1] / range_),
        (math.log(STEEPNESSES[0]), math.log(STEEPNESSES[1])),
        (0.0, share * MOST_BACKGROUND),
    ]

    def curve(parameters: Floats) -> Curve:
        threshold, log_steepness, background = (float(number) for number in parameters)
        return Curve(threshold * range_, math.exp(log_steepness) / range_, background, share)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        candidate = curve(parameters)
        return deviance(counts, candidate), _gradient(counts, candidate, range_)

    found = minimize(loss, np.clip(start, *np.array(bounds).T), jac=True, bounds=bounds, method="L-BFGS-B")
    return curve(found.x)


def _best_of_grid(counts: Counts, share: float, thresholds: tuple[float, float]) -> Floats:
    """Threshold / range, ln(steepness) and background of the likeliest curve of a grid."""
    range_ = float(np.ptp(counts.doses))
    axes = (
        np.unique(np.linspace(*thresholds, 61)),
        np.geomspace(*STEEPNESSES, 40),
        share * MOST_BACKGROUND * np.array([0.0, 0.1, 0.3, 0.6, 1.0]),
    )
    threshold, steepness, background = (axis.reshape(-1, 1) for axis in np.meshgrid(*axes))
    grid = Curve(threshold, steepness / range_, background, share)
    best = int(np.argmin(_deviances(counts, grid.breaks(counts.doses), grid.meets(counts.doses))))
    return np.array([threshold[best, 0] / range_, math.log(steepness[best, 0]), background[best, 0]])


def _gradient(counts: Counts, curve: Curve, range_: float) -> Floats:
    """The deviance's derivatives by threshold / range, ln(steepness) and background."""
    p, q, logits = curve.breaks(counts.doses), curve.meets(counts.doses), curve.logits(counts.doses)
    by_share = -2 * (counts.broken / p - (counts.n - counts.broken) / q)
    by_logit = by_share * q * _logistic(logits)
    by_background = by_share @ _logistic(-logits) - by_logit.sum() / (curve.share - curve.background)
    by_steepness = by_logit @ (curve.steepness * (counts.doses - curve.threshold))
    return np.array([-by_logit.sum() * curve.steepness * range_, by_steepness, by_background])


def _logistic(logits: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(logits))


def _pearson(counts: Counts, shares: Floats, inner: npt.NDArray[np.bool_]) -> float:
    expected = counts.n * shares
    return float(((counts.broken - expected)[inner] ** 2 / (expected * (1 - shares))[inner]).sum())
