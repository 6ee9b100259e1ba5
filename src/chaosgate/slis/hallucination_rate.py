"""hallucination-rate: the share of whole answers to prompts with a known one that say something else."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.slis.refusal_rate import RefusalRate
from chaosgate.units import Dimension


@SLIS.register("hallucination-rate")
class HallucinationRate(Sli):
    """Answers that are attempted and wrong, of all whole answers to prompts with a known one.

    The three grades are those of SimpleQA (Wei et al. 2024, arXiv:2411.04368): right, wrong, and not attempted. A
    refusal and an empty answer attempt nothing, so that a model that declines more does not hallucinate more; with
    answer-accuracy they tell the three apart. Garbled text is wrong, too: nobody can tell here whether it was fluent.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "share"
    reads_text: ClassVar[bool] = True
    scorer: ClassVar[str | None] = RefusalRate.scorer

    @staticmethod
    def value(sample: Sample) -> float | None:
        """1 for an answer that is wrong and no refusal, else 0; None without a known answer or for a failed request."""
        seen, refused = sample.observation, RefusalRate.value(sample)
        if refused is None or seen.answer is None or seen.said is None:
            return None
        return float(seen.answer == "wrong" and not refused and bool(seen.said.strip()))
