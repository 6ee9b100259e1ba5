"""The run second by second, for the timeline plot."""

from __future__ import annotations

import math
from collections.abc import Iterable

from chaosgate.estimate.requests import Request
from chaosgate.model.observation import Sample
from chaosgate.model.result import SeriesPoint
from chaosgate.model.sli import SLIS
from chaosgate.statistics.ranks import quantile_of


def make_series(requests: Iterable[Request]) -> tuple[SeriesPoint, ...]:
    """One point a second in which requests arrived, on the gateway's clock, warm-up included.

    `errors` counts what is no whole answer; the quantiles are of the SLI ttft (counted from the schedule), None where
    no answer has one.
    """
    seconds: dict[int, list[Request]] = {}
    for request in requests:
        if math.isfinite(request.seen):
            seconds.setdefault(math.floor(request.seen), []).append(request)
    return tuple(_point(second, seconds[second]) for second in sorted(seconds))


def _point(second: int, requests: list[Request]) -> SeriesPoint:
    ttft = SLIS.get("ttft")
    found = [ttft.value(Sample(request.observation, None)) for request in requests]
    values = [value for value in found if value is not None and math.isfinite(value)]
    return SeriesPoint(
        at=float(second),
        requests=len(requests),
        errors=sum(request.observation.outcome not in ("ok", "cancelled") for request in requests),
        ttft_p50=quantile_of(values, 0.50) if values else None,
        ttft_p99=quantile_of(values, 0.99) if values else None,
    )
