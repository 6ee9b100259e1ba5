"""isotonic: the dose at which a given share of requests breaks a bound, if the share never falls; no curve assumed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from chaosgate.model.fit import FITS, DoseWindow, Fit, Response, Threshold
from chaosgate.units import Dimension


@FITS.register("isotonic")
class Isotonic(Fit):
    """Shares that do not fall with the dose, and nothing else assumed; its threshold is where they pass `share`.

    The value is where the line through the fitted shares passes `share`. The interval goes from dose to dose, since
    nothing is assumed of what lies between: it is wider than that of a curve, and right where no curve fits.
    """

    kind: Literal["isotonic"]
    response: Response

    def fit(self, windows: Sequence[DoseWindow], seed: int, dimension: Dimension = "number") -> Threshold:
        """The threshold with its 95 % interval by likelihood-ratio inversion, or the reason for none.

        Nothing is drawn, `seed` changes nothing. An end of the interval that lies beyond the doses is None.
        """
        # Numpy is loaded only where something is fitted: a spec is validated without it.
        from chaosgate.statistics.dose_response import counts_of
        from chaosgate.statistics.isotonic import Crossing

        return Crossing(counts_of(windows), self.response.share, dimension).threshold()
