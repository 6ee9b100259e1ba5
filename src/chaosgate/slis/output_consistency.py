"""output-consistency: how often two answers to one prompt are the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("output-consistency")
class OutputConsistency(Sli):
    """The share of pairs of whole answers to one prompt, within a window, that are the same text.

    It needs no baseline: a model that changed for good, and answers alike ever since, is consistent. Where no prompt is
    asked twice in a window there is no number, and no number passes no gate: ask fewer prompts, or hold windows longer.
    Answers are sampled at temperature 0, at which a server still need not repeat itself when its batches differ.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "set"

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> float | None:
        """From 0 to 1; None where no prompt has two whole answers."""
        answers: defaultdict[tuple[str | None, str], list[str]] = defaultdict(list)
        for seen in (sample.observation for sample in samples):
            if seen.outcome == "ok":
                answers[seen.tenant, seen.prompt].append(seen.text)
        pairs = sum(_pairs(len(texts)) for texts in answers.values())
        same = sum(_pairs(count) for texts in answers.values() for count in Counter(texts).values())
        return same / pairs if pairs else None


def _pairs(count: int) -> int:
    return count * (count - 1) // 2
