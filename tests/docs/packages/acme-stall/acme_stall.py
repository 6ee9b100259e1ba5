"""acme-stall: the longest silence in the middle of an answer, which its reader sees as a chat that froze."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("acme-stall")
class LongestStall(Sli):
    """The longest gap between two tokens of a whole answer: one long gap hides in a mean over all of them."""

    dimension: ClassVar[Dimension] = "duration"
    statistic: ClassVar[Statistic] = "quantile"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """Seconds; None where the answer is not whole, or has one token and so no gap."""
        seen = sample.observation
        if seen.outcome != "ok" or len(seen.tokens) < 2:
            return None
        return max(later - earlier for earlier, later in pairwise(seen.tokens))
