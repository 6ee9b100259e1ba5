"""length-stability: how far the lengths of answers stray from those of the clean ones, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.slis.answers import compared
from chaosgate.texts import words
from chaosgate.units import Dimension


@SLIS.register("length-stability")
class LengthStability(Sli):
    """The standard deviation of answer lengths around the clean answers' lengths, in words; 0 is stable.

    Each answer is compared with its own prompt's, so that prompts may ask for answers of different lengths; and around
    the clean lengths, not around their own mean, so that answers which all get shorter show as well.
    """

    dimension: ClassVar[Dimension] = "count"
    statistic: ClassVar[Statistic] = "set"
    usual: ClassVar[str | None] = "<= 2.1"
    compares: ClassVar[bool] = True
    reads_text: ClassVar[bool] = True

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> float | None:
        """Words: the root of the mean squared difference; None where no whole answer has a clean one."""
        strays = [_stray(sample) for sample in samples]
        known = [stray for stray in strays if stray is not None]
        return math.sqrt(sum(stray**2 for stray in known) / len(known)) if known else None


def _stray(sample: Sample) -> int | None:
    pair = compared(sample)
    if pair is None:
        return None
    said, clean = map(words, pair)
    return len(said) - len(clean)
