"""usl: the load at which throughput is greatest, by the Universal Scalability Law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.model.fit import FITS, DoseWindow, Fit, FitResponse, Threshold
from chaosgate.units import Dimension


@FITS.register("usl")
class Usl(Fit):
    """Gunther's Universal Scalability Law through throughput by load: contention bends it, coherency makes it fall.

    The dose must be a load, such as requests in flight; the response's SLI is a rate, such as tokens-per-second. The
    threshold is the load at which throughput is greatest, sqrt((1 - contention) / coherency). Windows at load 0 are
    left out.
    """

    reads: ClassVar[Literal["breaks", "amounts"]] = "amounts"
    kind: Literal["usl"]
    response: FitResponse

    def finds(self) -> str:
        """The rate is greatest."""
        return f"{self.response.sli} is greatest"

    def fit(self, windows: Sequence[DoseWindow], seed: int, dimension: Dimension = "number") -> Threshold:
        """The load of the peak with its 95 % profile-likelihood interval, or the reason for none.

        It reads `amount` and `seconds` of the windows. Nothing is drawn, `seed` changes nothing. An end that lies
        beyond the loads is None.
        """
        # Numpy is loaded only where something is fitted: a spec is validated without it.
        from chaosgate.statistics.scalability import Scalability, rates_of

        return Scalability(rates_of(windows), dimension).threshold()
