"""When requests are due: all of an open loop, fixed before the first one is sent. Pure and repeatable from the seed.

A rate that changes is had by time change (Cinlar, Introduction to Stochastic Processes, 1975, section 4.7): the times
of a process of rate 1 go through the inverse of the integral of the rate. Poisson gaps give the Poisson process of that
rate, equal gaps give a request each time the integral grows by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import accumulate, count, takewhile
from typing import get_args

from chaosgate.draws import exponential, uniform
from chaosgate.errors import UsageError
from chaosgate.loadgen.replay import replayed
from chaosgate.model.arrivals import (
    ClosedArrivals,
    GammaArrivals,
    Gaps,
    Piece,
    RateArrivals,
    TraceArrivals,
)
from chaosgate.model.workload import LoadStream, Spikes, Workload
from chaosgate.registry import unknown

PROCESSES: tuple[Gaps, ...] = get_args(Gaps)


@dataclass(frozen=True, slots=True)
class Due:
    """One request of an open loop."""

    at: float
    """Seconds from the phase's start."""
    stream: int
    """Which of the workload's streams sends it."""
    index: int
    """How many requests of that stream were due before it."""
    row: int | None = None
    """The row of the trace that it replays."""


def schedule(workload: Workload, seconds: float, phase: str) -> Iterator[Due]:
    """Every request that an open loop has due in [0, `seconds`) of `phase`, in order; a closed one has none.

    The streams are merged by time: the superposition of independent Poisson processes is one of the sum of their
    rates. It depends on the workload, its seed and `phase` alone.
    """
    streams = [_due(stream, at, workload.seed, seconds, phase) for at, stream in enumerate(workload.streams())]
    return iter(streams[0]) if len(streams) == 1 else merge(*streams, key=lambda due: (due.at, due.stream))


def _due(stream: LoadStream, number: int, seed: int, seconds: float, phase: str) -> Iterator[Due]:
    site = (phase,) if stream.tenant is None else (phase, stream.tenant)
    base: Iterable[tuple[float, int | None]] = _base(stream, seed, seconds, site)
    if stream.spikes is not None:
        added = _before(seconds, spike_times(stream.spikes, seed, *site))
        base = merge(base, ((at, None) for at in added), key=lambda one: one[0])
    return (Due(at, number, index, row) for index, (at, row) in enumerate(base))


def _base(stream: LoadStream, seed: int, seconds: float, site: Sequence[str]) -> Iterator[tuple[float, int | None]]:
    arrivals = stream.arrivals
    if isinstance(arrivals, TraceArrivals):
        return replayed(arrivals, seconds)
    if isinstance(arrivals, ClosedArrivals):
        return iter(())
    if isinstance(arrivals, RateArrivals):
        times = scheduled_times(arrivals.process, arrivals.rate, seconds, seed, *site)
    elif isinstance(arrivals, GammaArrivals):
        units = gamma_units(arrivals.burstiness, seed, *site)
        times = _before(seconds, (unit / arrivals.rate for unit in units))
    else:
        units = _units(arrivals.gaps, seed, *site)
        times = _before(seconds, time_changed(units, arrivals.pieces()))
    return ((at, None) for at in times)


def scheduled_times(process: Gaps, rate: float, seconds: float, seed: int, *site: str) -> Iterator[float]:
    """The times in [0, `seconds`) at which requests 0, 1, 2, ... are due, in seconds from the phase's start.

    `rate` is in requests per second, `site` the phase, and the tenant where there is one. `constant` sends request k at
    k / rate. `poisson` has independent exponential gaps of mean 1 / rate, so that the number of requests in any stretch
    is Poisson distributed; the gap before request k is a function of (seed, site, k) alone. A rate that is not positive
    or an unknown process is a UsageError.
    """
    if rate <= 0:
        raise UsageError(f"read the rate {rate:g}/s; write a rate above 0, such as 20/s")
    if process not in PROCESSES:
        raise UsageError(unknown("arrival process", process, PROCESSES))
    # A quotient each, not a sum of gaps: rounding does not add up.
    times = _poisson(rate, seed, *site) if process == "poisson" else (number / rate for number in count())
    return _before(seconds, times)


def gamma_units(burstiness: float, seed: int, *site: str) -> Iterator[float]:
    """The times of a process of rate 1 whose gaps are gamma distributed with shape `burstiness`.

    Their mean is 1, their coefficient of variation 1 / sqrt(shape); each is drawn by inversion.
    """
    from scipy.special import gammaincinv

    draws = (uniform(seed, "arrival", *site, number) for number in count())
    return accumulate(float(gammaincinv(burstiness, draw)) / burstiness for draw in draws)


def spike_times(spikes: Spikes, seed: int, *site: str) -> Iterator[float]:
    """The times of the requests that spikes add, without end: Poisson arrivals in time that only spikes have."""
    for within in accumulate(exponential(1 / spikes.rate, seed, "spike", *site, number) for number in count()):
        before = int(within / spikes.width)
        yield (before + 1) * spikes.every + (within - before * spikes.width)


def time_changed(units: Iterable[float], pieces: Sequence[Piece]) -> Iterator[float]:
    """The times at which the integral of the rate of `pieces` reaches each of the rising `units`."""
    begun, reached, left = 0.0, 0.0, iter(pieces)
    piece = next(left)
    for unit in units:
        while unit - reached >= (total := piece.expected(piece.seconds)):
            begun, reached = begun + piece.seconds, reached + total
            following = next(left, None)
            if following is None:
                return
            piece = following
        yield begun + piece.time_of(unit - reached)


def _units(gaps: Gaps, seed: int, *site: str) -> Iterator[float]:
    return _poisson(1.0, seed, *site) if gaps == "poisson" else map(float, count())


def _poisson(rate: float, seed: int, *site: str) -> Iterator[float]:
    return accumulate(exponential(1 / rate, seed, "arrival", *site, number) for number in count())


def _before(seconds: float, times: Iterable[float]) -> Iterator[float]:
    return takewhile(lambda due: due < seconds, times)
