"""repeated-words: the share of an answer's words that it said just before."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.texts import words
from chaosgate.units import Dimension

REACH = 16
"""Words back: the shortest of the reaches for which single-token repeats are given (Welleck et al., "Neural Text
Generation with Unlikelihood Training", ICLR 2020, rep/16)."""


@SLIS.register("repeated-words")
class RepeatedWords(Sli):
    """The share of words that stand among the 16 before them as well; the mean over whole answers.

    A decoder that loops, or whose cache is written by others, repeats itself. Sound text has a share of its own, of
    small words such as `the`: compare it with the baseline's. A failed request does not count, error-rate counts it.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "mean"
    usual: ClassVar[str | None] = "<= 10 %"
    reads_text: ClassVar[bool] = True

    @staticmethod
    def value(sample: Sample) -> float | None:
        """From 0 to 1; None for a failed request or an answer without a word."""
        seen = sample.observation
        return _repeated(seen.said) if seen.outcome == "ok" and seen.said else None


@lru_cache(maxsize=4096)
def _repeated(said: str) -> float | None:
    spoken = words(said)
    repeats = sum(word in spoken[max(0, place - REACH) : place] for place, word in enumerate(spoken))
    return repeats / len(spoken) if spoken else None
