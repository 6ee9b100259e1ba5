"""semantic-similarity: how near an answer lies to the clean answer to the same prompt, by embeddings."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.scorers.wordllama import WordLlama
from chaosgate.slis.answers import clean_answer, whole_answer
from chaosgate.units import Dimension


@SLIS.register("semantic-similarity")
class SemanticSimilarity(Sli):
    """The mean cosine of the embeddings of an answer and of the clean one, by the scorer wordllama; at least 0.

    A wrong fact in the right sentence keeps it high: it sees what an answer is about and not whether it is true. So no
    gate may rest on it alone.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "mean"
    usual: ClassVar[str | None] = ">= 85 %"
    scores: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    reads_text: ClassVar[bool] = True
    scorer: ClassVar[str | None] = "wordllama"
    embedding: ClassVar[bool] = True

    @staticmethod
    def value(sample: Sample) -> float | None:
        """From 0 to 1; None for an answer that is not whole or has no text, or a prompt without a clean answer."""
        said, clean = whole_answer(sample), clean_answer(sample)
        if said is None or clean is None:
            return None
        from chaosgate.statistics.vectors import cosine

        one, other = WordLlama.vector(said), WordLlama.vector(clean)
        return None if one is None or other is None else max(0.0, cosine(one, other))
