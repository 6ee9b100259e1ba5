"""request-entropy: how many different things a window's requests ask, in bits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.scorers.wordllama import WordLlama
from chaosgate.units import Dimension

DISTANCE = 0.3
"""The mean cosine distance up to which two groups of requests ask the same."""
ENOUGH = 2
"""Requests below which a window has no entropy: one alone always has 0 bits."""
_REMEMBERED = 256


@SLIS.register("request-entropy")
class RequestEntropy(Sli):
    """Shannon's entropy of the topics that are asked for: clusters of the prompts' embeddings by the scorer wordllama.

    Clusters are joined by average linkage up to a cosine distance of 0.3. 0 bits are one topic, 3 bits eight equally
    frequent ones. It looks at prompts and not at answers, and counts failed requests, which were asked, too. A window
    with few requests shows less than there is: compare windows of like size.
    """

    dimension: ClassVar[Dimension] = "number"
    statistic: ClassVar[Statistic] = "set"
    usual: ClassVar[str | None] = "<= 5"
    reads_known: ClassVar[bool] = True
    scorer: ClassVar[str | None] = "wordllama"
    embedding: ClassVar[bool] = True

    @staticmethod
    def value(sample: Sample) -> float | None:
        """None: one request has no entropy."""
        return None

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> float | None:
        """Bits; None for fewer than two requests whose prompt is known and holds text."""
        counted = [each for each in samples if each.known is not None and each.observation.outcome != "cancelled"]
        return _entropy(tuple(sorted(each.known.text for each in counted if each.known is not None)))


@lru_cache(maxsize=_REMEMBERED)
def _entropy(texts: tuple[str, ...]) -> float | None:
    # Remembered by window: its number is asked for at every estimate that borrows from it.
    from chaosgate.statistics.entropy import entropy_bits
    from chaosgate.statistics.vectors import cluster_sizes

    vectors = [vector for vector in map(WordLlama.vector, texts) if vector is not None]
    return entropy_bits(cluster_sizes(vectors, DISTANCE)) if len(vectors) >= ENOUGH else None
