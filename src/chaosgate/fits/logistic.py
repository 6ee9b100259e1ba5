"""logistic: the dose at which a given share of requests breaks a bound, from a binomial-logistic dose response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from chaosgate.model.fit import FITS, DoseWindow, Fit, Response, Threshold
from chaosgate.units import Dimension


@FITS.register("logistic")
class Logistic(Fit):
    """A logistic curve through the shares that break the response's bound; its threshold is where it passes `share`.

    The curve rises from a background, the share that breaks the bound at any dose, to 100 %. Where a fault selects only
    a part of the requests it fits badly; the dispersion grows with the misfit, and with it the interval.
    """

    kind: Literal["logistic"]
    response: Response

    def fit(self, windows: Sequence[DoseWindow], seed: int, dimension: Dimension = "number") -> Threshold:
        """The threshold with its 95 % profile-likelihood interval, the bracketing doses, or the reason for neither.

        Nothing is drawn, `seed` changes nothing. `dimension` is the dose's: reasons write doses in its unit. An end of
        a fitted interval is None where it lies beyond the doses of the sweep; `reason` then says so.
        """
        # Numpy is loaded only where something is fitted: a spec is validated without it.
        from chaosgate.statistics.dose_response import DoseResponse, counts_of

        return DoseResponse(counts_of(windows), self.response.share, dimension).threshold()
