"""semantic-consistency: how near answers to the same prompt lie to each other, by embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.scorers.wordllama import WordLlama
from chaosgate.slis.answers import whole_answer
from chaosgate.units import Dimension

if TYPE_CHECKING:
    from chaosgate.statistics.arrays import Floats


@SLIS.register("semantic-consistency")
class SemanticConsistency(Sli):
    """The mean cosine of all pairs of a window's answers to one prompt, by the scorer wordllama; then over its prompts.

    It needs prompts that are asked more than once a window. It is 100 % of a service that repeats itself, right or
    wrong, and field reports have 82 to 88 % as healthy where answers are sampled. A mean below 0 counts as 0.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "set"
    usual: ClassVar[str | None] = ">= 85 %"
    reads_text: ClassVar[bool] = True
    scorer: ClassVar[str | None] = "wordllama"
    embedding: ClassVar[bool] = True

    @staticmethod
    def value(sample: Sample) -> float | None:
        """None: one answer is consistent with nothing."""
        return None

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> float | None:
        """From 0 to 1; None where no prompt has two whole answers."""
        from chaosgate.statistics.vectors import mean_pairwise_cosine

        means = [mean_pairwise_cosine(vectors) for vectors in _by_prompt(samples) if len(vectors) > 1]
        return max(0.0, fmean(means)) if means else None


def _by_prompt(samples: Sequence[Sample]) -> Iterator[Sequence[Floats]]:
    """The embeddings of the whole answers to each prompt."""
    found: dict[str, list[Floats]] = {}
    for sample in samples:
        said = whole_answer(sample)
        vector = None if said is None else WordLlama.vector(said)
        if vector is not None:
            found.setdefault(sample.observation.prompt, []).append(vector)
    yield from found.values()
