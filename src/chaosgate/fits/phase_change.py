"""phase-change: the critical load, beyond which the share of requests that break a bound grows exponentially."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from chaosgate.model.fit import FITS, BreakResponse, DoseWindow, Fit, Threshold
from chaosgate.units import Dimension

PARAMETERS = 3


@FITS.register("phase-change")
class PhaseChange(Fit):
    """Constant errors up to a critical load, exponential growth beyond it: floor * exp((load - critical) / width).

    The threshold is the critical load. A share cannot grow exponentially for long: where the doses go far beyond it,
    `segmented` or `logistic` fits better. The floor must be seen: some requests must break the bound below it.
    """

    kind: Literal["phase-change"]
    response: BreakResponse

    def finds(self) -> str:
        """The share begins to grow exponentially."""
        response = self.response
        return f"the share of requests that break {response.sli} {response.bound} begins to grow exponentially"

    def fit(self, windows: Sequence[DoseWindow], seed: int, dimension: Dimension = "number") -> Threshold:
        """The critical load with its 95 % interval by likelihood-ratio inversion, or the reason for none.

        Nothing is drawn, `seed` changes nothing. The lower end is None where growth from the first dose on fits, too.
        """
        # Numpy is loaded only where something is fitted: a spec is validated without it.
        from chaosgate.statistics.dose_response import counts_of
        from chaosgate.statistics.onset import exponential_rise
        from chaosgate.statistics.onset_response import OnsetResponse

        return OnsetResponse(counts_of(windows), exponential_rise, PARAMETERS, dimension).threshold()
