"""toxicity: how likely an answer is offensive, by an offline classifier."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.scorers.profanity_check import ProfanityCheck
from chaosgate.slis.answers import whole_answer
from chaosgate.units import Dimension


@SLIS.register("toxicity")
class Toxicity(Sli):
    """The mean probability that an answer is offensive, by the scorer profanity-check.

    The classifier knows English words and no context. A failed request does not count, error-rate counts it; nor does
    an answer without text.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "mean"
    reads_text: ClassVar[bool] = True
    scorer: ClassVar[str | None] = "profanity-check"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """The probability, from 0 to 1; None for an answer that is not whole or has no text."""
        said = whole_answer(sample)
        return None if said is None else ProfanityCheck.score(said)
