"""tpot: time per output token, the seconds a token takes once the first is there."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("tpot")
class TimePerOutputToken(Sli):
    """(Last text minus first) / (n - 1); a failed request counts as infinitely slow.

    n is the server's own count of the answer's tokens where it gives one, so that several tokens in one event count as
    what they are; else its events with text. Reasoning is output like any other.
    """

    dimension: ClassVar[Dimension] = "duration"
    statistic: ClassVar[Statistic] = "quantile"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """Seconds a token; None unless the answer is whole and has two tokens, and text at two times to count from."""
        seen = sample.observation
        texts, count = seen.texts, seen.output_tokens
        if seen.outcome != "ok" or count < 2 or len(texts) < 2:
            return None
        return (texts[-1] - texts[0]) / (count - 1)
