"""first-diverging-token: how far an answer goes before its first token that differs from the clean answer."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.slis.answers import compared
from chaosgate.texts import tokens
from chaosgate.units import Dimension


@SLIS.register("first-diverging-token")
class FirstDivergingToken(Sli):
    """The tokens before the first one that differs, as a share of those of the longer of the two answers.

    100 % is an answer of the same tokens, one that is cut short after half of them has 50 %. A token is a word or a
    mark; white space does not count. A share says the same of short answers and of long ones, and an answer that never
    differs has one, too, which the number of a token has not.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "mean"
    usual: ClassVar[str | None] = ">= 80 %"
    scores: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    reads_text: ClassVar[bool] = True

    @staticmethod
    def value(sample: Sample) -> float | None:
        """From 0, nothing is as in the clean answer, to 1; None for a failed request or an unknown clean answer."""
        pair = compared(sample)
        return None if pair is None else _common(*pair)


@lru_cache(maxsize=4096)
def _common(one: str, other: str) -> float:
    said, clean = tokens(one), tokens(other)
    longer = max(len(said), len(clean))
    same = next((place for place, pair in enumerate(zip(said, clean, strict=False)) if pair[0] != pair[1]), None)
    return 1.0 if longer == 0 else (min(len(said), len(clean)) if same is None else same) / longer
