"""The dose at which a share that never falls with the dose crosses a given one, without any curve assumed.

The shares of greatest likelihood that do not fall are the weighted isotonic regression of the observed ones (Barlow,
Bartholomew, Bremner & Brunk, "Statistical Inference under Order Restrictions", 1972). The interval inverts the
likelihood-ratio test: a stretch between two doses is in it unless the data speak against the crossing lying there, that
is, against every dose before it staying at or below the share and every dose after it at or above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chaosgate.model.fit import Threshold
from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.likelihood import Counts, deviance_of
from chaosgate.statistics.outcomes import critical, curve_points, open_ends, outcome, refused
from chaosgate.statistics.screen import eventful, monotone, reached, usable
from chaosgate.units import Dimension, format_value


@dataclass(frozen=True)
class Crossing:
    """The requests of a sweep, the share whose crossing is sought, and the dimension of its doses."""

    counts: Counts
    share: float
    dimension: Dimension

    def threshold(self) -> Threshold:
        """The crossing with the doses around it, or the reason for none.

        Both ends of the interval are doses of the sweep: what happens between two doses nothing tells.
        """
        counts, dimension = self.counts, self.dimension
        reason = (
            usable(counts) or reached(counts, self.share, dimension) or monotone(counts, dimension) or eventful(counts)
        )
        return refused(counts, reason) if reason else self._fitted()

    def _fitted(self) -> Threshold:
        counts, total = self.counts, self.counts.by_dose()
        shares = rising_shares(total)
        spread, freedom = counts.dispersion_within()
        allowed = deviance_of(total, shares) + spread * critical(freedom)
        lower, upper = accepted(total, self.share, allowed)
        if reason := self._bound_only(shares, lower, upper):
            return refused(counts, reason)
        value = crossing(total.doses, shares, self.share)
        found = outcome(counts, "fitted", value, lower, upper, open_ends(lower, upper))
        goodness = {
            "deviance": deviance_of(counts, np.interp(counts.doses, total.doses, shares)),
            "dispersion": spread,
            "parameters": float(len(np.unique(shares))),
        }
        curve = curve_points(counts.doses, lambda doses: np.interp(doses, total.doses, shares))
        return found.model_copy(update={"curve": curve, "goodness": goodness})

    def _bound_only(self, shares: Floats, lower: float | None, upper: float | None) -> str | None:
        """Why the crossing is only bounded on one side, or on none."""
        if lower is None and upper is None:
            return "the share that breaks the bound does not rise significantly with the dose"
        last = format_value(float(self.counts.doses.max()), self.dimension)
        if upper is None and (shares[:-1] < self.share).all():
            return (
                f"{format_value(self.share, 'share')} is reached at the last dose alone, {last}, and not surely; add "
                "larger doses"
            )
        return None


def rising_shares(total: Counts) -> Floats:
    """The shares of greatest likelihood that do not fall with the dose; `total` has one entry a dose."""
    return _isotonic(total.shares, total.n)


def crossing(doses: Floats, shares: Floats, share: float) -> float:
    """Where the line through rising `shares` first reaches `share`, which lies between the least and the greatest."""
    after = int(np.argmax(shares >= share))
    if after == 0:
        return float(doses[0])
    below, above = shares[after - 1], shares[after]
    return float(doses[after - 1] + (doses[after] - doses[after - 1]) * (share - below) / (above - below))


def accepted(total: Counts, share: float, allowed: float) -> tuple[float | None, float | None]:
    """The doses between which the crossing lies: where the deviance of shares that cross there is at most `allowed`.

    None for an end before the first or beyond the last dose.
    """
    doses = len(total.doses)
    fits = [deviance_of(total, _crossing_before(total, share, first)) <= allowed for first in range(doses + 1)]
    low, high = fits.index(True), doses - fits[::-1].index(True)
    return (None if low == 0 else float(total.doses[low - 1])), (None if high == doses else float(total.doses[high]))


def _crossing_before(total: Counts, share: float, first: int) -> Floats:
    """The likeliest rising shares that are at most `share` before the dose with index `first`, and at least from it on.

    Clipping the isotonic regression of a part gives the one within bounds (Barlow et al. 1972, theorem 2.1).
    """
    shares, n = total.shares, total.n
    below = np.minimum(_isotonic(shares[:first], n[:first]), share)
    above = np.maximum(_isotonic(shares[first:], n[first:]), share)
    return np.concatenate([below, above])


def _isotonic(shares: Floats, weights: Floats) -> Floats:
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(shares, weights=weights).x) if len(shares) else shares
