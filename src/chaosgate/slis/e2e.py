"""e2e: seconds from when a request was due to the end of its answer."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("e2e")
class EndToEnd(Sli):
    """End minus schedule; a failed request counts as infinitely slow. Counted from the schedule, as ttft is."""

    dimension: ClassVar[Dimension] = "duration"
    statistic: ClassVar[Statistic] = "quantile"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """Seconds; None unless the answer is whole."""
        seen = sample.observation
        return seen.end - seen.scheduled if seen.outcome == "ok" else None
