"""tokens-per-second: output tokens of whole answers, a second."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("tokens-per-second")
class TokensPerSecond(Sli):
    """Tokens of the whole answers to a window's requests over the window's length, reasoning included.

    n is counted as in tpot. A failed request gives none: nobody can use half an answer.
    """

    dimension: ClassVar[Dimension] = "rate"
    statistic: ClassVar[Statistic] = "rate"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """Output tokens, 0 for a failed request; None for a request that its client cancelled."""
        seen = sample.observation
        if seen.outcome == "cancelled":
            return None
        return float(seen.output_tokens) if seen.outcome == "ok" else 0.0
