"""Replay: the times of a recorded trace, at another speed, and again when the phase is longer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from chaosgate.errors import UsageError
from chaosgate.model.arrivals import TraceArrivals


def replayed(arrivals: TraceArrivals, seconds: float) -> Iterator[tuple[float, int]]:
    """When each row of the trace is due in [0, `seconds`), with the row's number, in order.

    With `repeat` the trace starts over one mean gap after its last request; without it, and for a single request, the
    load ends there. A trace whose file was never read is a UsageError.
    """
    times = arrivals.times
    if times is None:
        raise UsageError(f"the trace {arrivals.file!r} has not been read; load the spec from its file")
    period = arrivals.period if arrivals.repeat else None
    for lap in count():
        for row, time in enumerate(times):
            at = time / arrivals.speed + lap * (period or 0.0)
            if at >= seconds:
                return
            yield at, row
        if period is None:
            return
