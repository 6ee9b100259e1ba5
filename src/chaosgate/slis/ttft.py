"""ttft: seconds from when a request was due to its first content token."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("ttft")
class TimeToFirstToken(Sli):
    """First token minus schedule; a failed request counts as infinitely slow.

    Counted from the schedule and not from the sending, so that a stalled client hides nothing (coordinated omission:
    Gil Tene, "How NOT to Measure Latency", 2013). A request that failed, or answered nothing, has no first token.
    """

    dimension: ClassVar[Dimension] = "duration"
    statistic: ClassVar[Statistic] = "quantile"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """Seconds; None unless the answer is whole and has a token."""
        seen = sample.observation
        return seen.first - seen.scheduled if seen.outcome == "ok" and seen.first is not None else None
