"""chrf: the chrF of an answer against the clean one."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.slis.answers import likeness
from chaosgate.units import Dimension


@SLIS.register("chrf")
class ChrF(Sli):
    """The mean F2 of character n-grams up to 6 (Popovic, WMT 2015) as sacrebleu computes it; 100 % is the same answer.

    It needs no words and so suits every language, and short answers better than BLEU. White space does not count.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "mean"
    usual: ClassVar[str | None] = ">= 80 %"
    scores: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    reads_text: ClassVar[bool] = True
    needs: ClassVar[str | None] = "sacrebleu"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """From 0 to 1; None for a failed request or an unknown clean answer."""
        return likeness(sample, _chrf)


@lru_cache(maxsize=4096)
def _chrf(said: str, clean: str) -> float:
    from sacrebleu.metrics.chrf import CHRF

    return float(CHRF().sentence_score(said, [clean]).score) / 100
