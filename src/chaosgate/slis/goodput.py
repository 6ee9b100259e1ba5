"""goodput: requests that met every bound of the spec's `slo`, a second."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import RequestBound, Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension


@SLIS.register("goodput")
class Goodput(Sli):
    """Whole answers to a window's requests that keep all bounds of `spec.slo`, over the window's length.

    A bound on what an answer does not have, such as tpot where there is one token, is kept; an answer without any text
    is not good. (Zhong et al., "DistServe", OSDI 2024.)
    """

    dimension: ClassVar[Dimension] = "rate"
    statistic: ClassVar[Statistic] = "rate"
    reads_slo: ClassVar[bool] = True

    @staticmethod
    def value(sample: Sample) -> float | None:
        """1 for a whole answer within the bounds, else 0; None without bounds, or for a cancelled request."""
        seen = sample.observation
        if not sample.slo or seen.outcome == "cancelled":
            return None
        return float(seen.outcome == "ok" and bool(seen.texts) and all(_kept(bound, sample) for bound in sample.slo))


def _kept(wanted: RequestBound, sample: Sample) -> bool:
    value = SLIS.get(wanted.sli).value(sample)
    return value is None or wanted.bound.holds(value)
