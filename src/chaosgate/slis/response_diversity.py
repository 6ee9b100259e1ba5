"""response-diversity: how much the answers to different prompts differ in the words that they use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import log2
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.texts import words
from chaosgate.units import Dimension

MOST = 48
"""Answers that are compared, each with each: 1,128 pairs. Of more, those to the prompts that come first by name."""


@SLIS.register("response-diversity")
class ResponseDiversity(Sli):
    """The mean divergence between answers to different prompts: 100 % where no two share a word, 0 % where all are one.

    A model that collapses says the same whatever it is asked. The divergence of two answers is Jensen and Shannon's:
    the mean Kullback-Leibler divergence, in bits, of the words of each from those of both (Lin, IEEE Transactions on
    Information Theory 37, 1991). A mean over pairs does not depend on how many answers there are; the divergence of all
    of them at once would. Of several answers to one prompt the first counts.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "set"
    reads_text: ClassVar[bool] = True

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> float | None:
        """From 0 to 1; None with whole answers to fewer than two prompts."""
        answers = _answers(samples)
        pairs = [divergence(answers[one], answers[two]) for one, two in combinations(sorted(answers)[:MOST], 2)]
        return min(1.0, sum(pairs) / len(pairs)) if pairs else None


@lru_cache(maxsize=2**16)
def divergence(one: tuple[str, ...], two: tuple[str, ...]) -> float:
    """The Jensen-Shannon divergence of two lists of words in bits, from 0 to 1. Two without a word are the same."""
    if not one or not two:
        return float(bool(one) != bool(two))
    first, second = _shares(one), _shares(two)
    parts = (_part(first.get(word, 0.0), second.get(word, 0.0)) for word in first.keys() | second.keys())
    return min(1.0, max(0.0, sum(sorted(parts))))


def _answers(samples: Sequence[Sample]) -> dict[tuple[str, str], tuple[str, ...]]:
    """By tenant and prompt, the words of its first whole answer, by the time at which it was due."""
    answers: dict[tuple[str, str], tuple[str, ...]] = {}
    for seen in sorted((sample.observation for sample in samples), key=lambda seen: (seen.scheduled, seen.said or "")):
        if seen.outcome == "ok" and seen.said is not None:
            answers.setdefault((seen.tenant or "", seen.prompt), words(seen.said))
    return answers


def _shares(answer: Sequence[str]) -> dict[str, float]:
    return {word: count / len(answer) for word, count in Counter(answer).items()}


def _part(one: float, two: float) -> float:
    """What a word adds that has these shares in either answer."""
    mean = (one + two) / 2
    return sum(share * log2(share / mean) for share in (one, two) if share > 0) / 2
