"""error-rate: the share of requests without a whole answer."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("error-rate")
class ErrorRate(Sli):
    """Errors, cut streams, timeouts and refused connections among all requests."""

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "share"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """1 for any outcome but `ok`, else 0; None for a request that its client cancelled."""
        outcome = sample.observation.outcome
        return None if outcome == "cancelled" else float(outcome != "ok")
