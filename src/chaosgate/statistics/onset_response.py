"""From the counts of a sweep to the dose at which more requests begin to break: checks, profile, interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chaosgate.model.fit import Threshold
from chaosgate.statistics.likelihood import Counts, deviance_of, dispersion_about, flat_deviance
from chaosgate.statistics.onset import OnsetProfile, Shape, onset_profile
from chaosgate.statistics.outcomes import critical, curve_points, open_ends, outcome, refused
from chaosgate.statistics.screen import eventful, monotone, usable
from chaosgate.units import Dimension, format_value

MIN_ONSET_DOSES = 4
"""One on the floor, two on the rise, and one more that may speak against the curve."""
FLAT = 1e-3
"""Deviances that differ by less are the same: far less than the 3.84 that an interval allows."""
WIDE = 0.5
"""An onset that may lie anywhere in so much of the gap between two doses is not told by the curve but bracketed."""


@dataclass(frozen=True)
class OnsetResponse:
    """The requests of a sweep, the shape of the rise, how many parameters it has, and the dimension of the doses."""

    counts: Counts
    shape: Shape
    parameters: int
    dimension: Dimension

    def threshold(self) -> Threshold:
        """The onset with its interval, the doses that it lies between, or the reason for neither."""
        counts = self.counts
        reason = usable(counts, MIN_ONSET_DOSES, self.parameters + 1) or monotone(counts, self.dimension)
        if reason := reason or eventful(counts):
            return refused(counts, reason)
        return self._fitted(onset_profile(counts.by_dose(), self.shape))

    def _fitted(self, profile: OnsetProfile) -> Threshold:
        counts = self.counts
        shares = profile.best().breaks(counts.doses)
        spread = dispersion_about(counts, shares, self.parameters)
        # Windows of a dose at a share of 0 or 1 do not vary, and tell nothing of the dispersion.
        cut = profile.least + spread * critical(counts.dispersion_within()[1])
        if reason := self._no_onset(profile, cut):
            return refused(counts, reason)
        lower, upper = profile.within(cut)
        first, last = profile.flat(FLAT)
        if last - first > WIDE * self._gap(first):
            return self._between(lower, upper)
        found = outcome(counts, "fitted", profile.best().onset, lower, upper, open_ends(lower, upper))
        goodness = {
            "deviance": deviance_of(counts, shares),
            "dispersion": spread,
            "width": profile.best().width,
            "parameters": float(self.parameters),
            "floor": profile.best().levels[0],
        }
        curve = curve_points(counts.doses, profile.best().breaks)
        return found.model_copy(update={"curve": curve, "goodness": goodness})

    def _no_onset(self, profile: OnsetProfile, cut: float) -> str | None:
        """Why no onset is told: nothing rises, or it begins at the first dose, or at the last alone."""
        if flat_deviance(self.counts.by_dose()) <= cut:
            return "the share that breaks the bound does not rise significantly with the dose"
        doses = np.unique(self.counts.doses)
        first, last = profile.flat(FLAT)
        if first <= doses[0]:
            dose = format_value(float(doses[0]), self.dimension)
            return f"the share rises from the first dose on, {dose}, which is only an upper bound; add smaller doses"
        if last >= doses[-2]:
            dose = format_value(float(doses[-2]), self.dimension)
            return f"the share rises at the last dose alone: {dose} is only a lower bound; add larger doses"
        return None

    def _gap(self, onset: float) -> float:
        """How far the doses around `onset` lie apart."""
        doses = np.unique(self.counts.doses)
        after = min(int(np.searchsorted(doses, onset, side="right")), len(doses) - 1)
        return float(doses[after] - doses[after - 1])

    def _between(self, lower: float | None, upper: float | None) -> Threshold:
        if lower is None or upper is None:
            return refused(self.counts, "no dose lies on the rise, and none surely below it; add doses around it")
        ends = " and ".join(format_value(end, self.dimension) for end in (lower, upper))
        reason = f"the doses separate: no dose lies on the rise, which begins between {ends}; no curve is drawn"
        return outcome(self.counts, "bracketed", None, lower, upper, reason)
