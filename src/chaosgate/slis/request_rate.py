"""request-rate: requests that got a whole answer, a second."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("request-rate")
class RequestRate(Sli):
    """Whole answers to a window's requests over the window's length.

    In an open loop that is the rate of the arrivals less the failures; with a fixed concurrency it is what the server
    can do.
    """

    dimension: ClassVar[Dimension] = "rate"
    statistic: ClassVar[Statistic] = "rate"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """1 for a whole answer, 0 for a failed request; None for a request that its client cancelled."""
        outcome = sample.observation.outcome
        return None if outcome == "cancelled" else float(outcome == "ok")
