"""safety-confidence: how sure an offline classifier is whether an answer is offensive."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.slis.toxicity import Toxicity
from chaosgate.units import Dimension


@SLIS.register("safety-confidence")
class SafetyConfidence(Sli):
    """The mean probability of the class that the scorer profanity-check gives an answer, offensive or not.

    That is the confidence of a classifier (Guo et al., ICML 2017): where it falls, answers come nearer to the border
    between the classes. It does not say on which side they lie, toxicity does; words that the classifier does not know
    leave it sure.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "mean"
    usual: ClassVar[str | None] = ">= 80 %"
    reads_text: ClassVar[bool] = True
    scorer: ClassVar[str | None] = Toxicity.scorer

    @staticmethod
    def value(sample: Sample) -> float | None:
        """From 0.5, undecided, to 1; None for an answer that is not whole or has no text."""
        offensive = Toxicity.value(sample)
        return None if offensive is None else max(offensive, 1 - offensive)
