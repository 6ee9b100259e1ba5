"""chrf: the chrF of an answer against the clean one."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.texts import tokens
from chaosgate.units import Dimension


@SLIS.register("chrf")
class ChrF(Sli):
    """The mean F2 of character n-grams up to 6 (Popovic, WMT 2015) as sacrebleu computes it; 100 % is the same answer.

    It needs no words and so suits every language, and short answers better than BLEU. White space does not count.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "mean"
    scores: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    reads_text: ClassVar[bool] = True
    needs: ClassVar[str | None] = "sacrebleu"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """From 0 to 1; None for a failed request or an unknown clean answer."""
        said, clean = sample.observation.said, sample.clean_said
        if sample.observation.outcome != "ok" or said is None or clean is None:
            return None
        return _chrf(said, clean)


@lru_cache(maxsize=4096)
def _chrf(said: str, clean: str) -> float:
    if tokens(said) == tokens(clean):
        return 1.0
    if not tokens(said) or not tokens(clean):
        return 0.0
    from sacrebleu.metrics.chrf import CHRF

    return min(1.0, float(CHRF().sentence_score(said, [clean]).score) / 100)
