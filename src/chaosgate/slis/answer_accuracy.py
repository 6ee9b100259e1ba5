"""answer-accuracy: the share of requests with a known answer that were answered right."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("answer-accuracy")
class AnswerAccuracy(Sli):
    """The answer against the prompt's known one, which is graded as its prompt set says.

    A failed request counts as wrong: whoever asked has no right answer. Unlike exact-match this needs no baseline, and
    a model that is wrong there already gains nothing by staying the same.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "share"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """1 for a whole and right answer, else 0; None for a prompt without a known answer or a cancelled request."""
        seen = sample.observation
        if seen.answer is None or seen.outcome == "cancelled":
            return None
        return float(seen.outcome == "ok" and seen.answer == "right")
