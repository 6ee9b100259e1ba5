"""accept-rate: the share of a replayed log's requests whose answer its users would take."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("accept-rate")
class AcceptRate(Sli):
    """Answers that are taken: those the log saw taken, and of answers that are new in it the right ones.

    An answer that the log saw refused is refused again, were it right. A failed request counts as refused.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "share"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """1 for an answer that is taken, else 0; None for a prompt of which no log tells or a cancelled request."""
        seen = sample.observation
        return None if seen.accepted is None or seen.outcome == "cancelled" else float(seen.accepted)
