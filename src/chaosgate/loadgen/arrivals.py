"""When requests are due: an open loop, fixed before the first one is sent. Pure and repeatable from the seed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, count, takewhile
from typing import get_args

from chaosgate.draws import exponential
from chaosgate.errors import UsageError
from chaosgate.model.spec import ArrivalProcess
from chaosgate.registry import unknown

PROCESSES: tuple[ArrivalProcess, ...] = get_args(ArrivalProcess)


def scheduled_times(process: ArrivalProcess, rate: float, seconds: float, seed: int, phase: str) -> Iterator[float]:
    """The times in [0, `seconds`) at which requests 0, 1, 2, ... of `phase` are due, in seconds from its start.

    `rate` is in requests per second. `constant` sends request k at k / rate. `poisson` has independent exponential gaps
    of mean 1 / rate, so that the number of requests in any stretch is Poisson distributed; the gap before request k is
    a function of (seed, phase, k) alone. A rate that is not positive or an unknown process is a UsageError.
    """
    if rate <= 0:
        raise UsageError(f"read the rate {rate:g}/s; write a rate above 0, such as 20/s")
    if process not in PROCESSES:
        raise UsageError(unknown("arrival process", process, PROCESSES))
    times = _poisson(rate, seed, phase) if process == "poisson" else _constant(rate)
    return takewhile(lambda due: due < seconds, times)


def _constant(rate: float) -> Iterator[float]:
    # A quotient each, not a sum of gaps: rounding does not add up.
    return (number / rate for number in count())


def _poisson(rate: float, seed: int, phase: str) -> Iterator[float]:
    return accumulate(exponential(1 / rate, seed, "arrival", phase, number) for number in count())
