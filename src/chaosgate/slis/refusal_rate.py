"""refusal-rate: the share of whole answers that decline to answer."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.scorers.refusal_phrases import RefusalPhrases
from chaosgate.units import Dimension

FILTERED = "content_filter"
"""The finish reason with which OpenAI's API says that its filter left text out."""


@SLIS.register("refusal-rate")
class RefusalRate(Sli):
    """Answers that begin with a phrase of the scorer refusal-phrases, or that a server's content filter ended.

    A failed request does not count, error-rate counts it. An empty answer declines nothing and counts as none.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "share"
    reads_text: ClassVar[bool] = True
    scorer: ClassVar[str | None] = "refusal-phrases"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """1 for a refusal, else 0; None for an answer that is not whole or was not kept."""
        seen = sample.observation
        if seen.outcome != "ok" or seen.said is None:
            return None
        return float(seen.finish == FILTERED or RefusalPhrases.refuses(seen.said))
