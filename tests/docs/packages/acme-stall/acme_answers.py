"""acme-answers: how many different answers a window holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.texts import words
from chaosgate.units import Dimension


@SLIS.register("acme-answers")
class DifferentAnswers(Sli):
    """Different whole answers, as a share of all of them: a model that collapses has one for everything."""

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "set"
    reads_text: ClassVar[bool] = True

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> float | None:
        """From 0 to 1; None with fewer than two whole answers."""
        seen = [each.observation for each in samples]
        answers = [words(one.said) for one in seen if one.outcome == "ok" and one.said is not None]
        return len(set(answers)) / len(answers) if len(answers) > 1 else None
