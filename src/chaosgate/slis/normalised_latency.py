"""normalised-latency: seconds from when a request was due to its end, over its output tokens."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("normalised-latency")
class NormalisedLatency(Sli):
    """e2e / n, n as in tpot; a failed request counts as infinitely slow.

    It compares answers of different lengths by all they cost their users, waiting included (Yu et al., "Orca", OSDI
    2022; Kwon et al., "Efficient Memory Management for Large Language Model Serving", SOSP 2023).
    """

    dimension: ClassVar[Dimension] = "duration"
    statistic: ClassVar[Statistic] = "quantile"
    ages: ClassVar[bool] = False

    @staticmethod
    def value(sample: Sample) -> float | None:
        """Seconds a token; None unless the answer is whole and has a token."""
        seen = sample.observation
        if seen.outcome != "ok" or not seen.output_tokens:
            return None
        return (seen.end - seen.scheduled) / seen.output_tokens
