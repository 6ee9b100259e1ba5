"""bleu4: the BLEU-4 of an answer against the clean one."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.slis.answers import likeness
from chaosgate.texts import is_unspaced
from chaosgate.units import Dimension


@SLIS.register("bleu4")
class Bleu4(Sli):
    """The mean of sentence BLEU (Papineni et al., ACL 2002) as sacrebleu computes it; 100 % is the same answer.

    Of an answer of fewer than four tokens only the n-grams that it has are counted (sacrebleu's effective order):
    plain BLEU is 0 there even for the same answer. Without a matching n-gram an order is smoothed exponentially. Tokens
    are sacrebleu's `13a`, and characters (`char`) where the clean answer is in a script without spaces. It is not
    corpus BLEU, which has no value of one request.
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
        return likeness(sample, _bleu)


@lru_cache(maxsize=4096)
def _bleu(said: str, clean: str) -> float:
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True, tokenize="char" if is_unspaced(clean) else "13a")
    return float(metric.sentence_score(said, [clean]).score) / 100
