"""segmented: the dose at which the share of requests that break a bound begins to rise, along a straight line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from chaosgate.model.fit import FITS, BreakResponse, DoseWindow, Fit, Threshold
from chaosgate.units import Dimension

PARAMETERS = 4


@FITS.register("segmented")
class Segmented(Fit):
    """Three straight segments through the shares that break the bound: a floor, a rise, a ceiling; found is the knee.

    The threshold is the dose at which the rise begins. A delay with uniform jitter, for one, makes just such a line.
    """

    kind: Literal["segmented"]
    response: BreakResponse

    def finds(self) -> str:
        """The share begins to rise."""
        return f"the share of requests that break {self.response.sli} {self.response.bound} begins to rise"

    def fit(self, windows: Sequence[DoseWindow], seed: int, dimension: Dimension = "number") -> Threshold:
        """The knee with its 95 % interval by likelihood-ratio inversion, the doses around it, or the reason for none.

        Nothing is drawn, `seed` changes nothing. The lower end is None where a rise from the first dose on fits, too.
        """
        # Numpy is loaded only where something is fitted: a spec is validated without it.
        from chaosgate.statistics.dose_response import counts_of
        from chaosgate.statistics.onset import linear_rise
        from chaosgate.statistics.onset_response import OnsetResponse

        return OnsetResponse(counts_of(windows), linear_rise, PARAMETERS, dimension).threshold()
