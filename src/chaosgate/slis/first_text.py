"""first-text: seconds from when a request was due to its first text, reasoning included."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("first-text")
class TimeToFirstText(Sli):
    """First event with text minus schedule; a failed request counts as infinitely slow.

    It differs from ttft where a model reasons before it answers: its user sees that it is at work.
    """

    dimension: ClassVar[Dimension] = "duration"
    statistic: ClassVar[Statistic] = "quantile"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """Seconds; None unless the answer is whole and has text or reasoning."""
        seen = sample.observation
        texts = seen.texts
        return texts[0] - seen.scheduled if seen.outcome == "ok" and texts else None
