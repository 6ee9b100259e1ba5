"""exact-match: the share of whole answers that equal the answer of the clean arm."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("exact-match")
class ExactMatch(Sli):
    """The text's digest against that of the prompt's first answer in the baseline.

    A failed request does not count, error-rate counts it; nor does a prompt whose clean answer is not known.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "share"
    scores: ClassVar[bool] = True
    compares: ClassVar[bool] = True

    @staticmethod
    def value(sample: Sample) -> float | None:
        """1 for the same text, 0 for another; None for a failed request or an unknown clean arm."""
        if sample.observation.outcome != "ok" or sample.clean is None:
            return None
        return float(sample.observation.text == sample.clean)
