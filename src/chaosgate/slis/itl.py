"""itl: inter-token latency, the seconds between one event with text and the next."""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("itl")
class InterTokenLatency(Sli):
    """All gaps of all answers together, reasoning included; a failed request counts as one infinite gap.

    A gap lies between events: a server that sends several tokens in one has fewer and longer gaps than tokens, and
    tpot tells its speed. Events that come in one piece have no gap between them, and it counts as 0.
    """

    dimension: ClassVar[Dimension] = "duration"
    statistic: ClassVar[Statistic] = "quantile"
    counted: ClassVar[str] = "gaps"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """Seconds: the longest gap of a whole answer, which it is judged by alone; None where it has no gap."""
        return max(InterTokenLatency.values(sample), default=None)

    @classmethod
    def values(cls, sample: Sample) -> Sequence[float]:
        """Every gap of a whole answer, in seconds."""
        seen = sample.observation
        if seen.outcome != "ok":
            return ()
        texts = seen.texts
        return tuple(map(sub, texts[1:], texts))
