"""When requests are sent: the arrival processes of a workload, and the rate that each of them plans."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, repeat
from typing import Annotated, Any, Literal

from pydantic import Field, model_serializer, model_validator

from chaosgate.model.base import Frozen
from chaosgate.units import Duration, Rate, format_duration, format_rate

MAX_RATE = 10_000
"""Requests a second that may be asked for: more than one machine's client sends."""
MAX_CONCURRENCY = 4096
"""Requests in flight at most, of any load."""
MIN_BURSTINESS, MAX_BURSTINESS = 0.01, 10_000
"""Shapes of gamma gaps whose draws are numbers; above them gaps are equal to four digits, which is `constant`."""

OpenRate = Annotated[Rate, Field(gt=0, le=MAX_RATE)]
"""A rate that is sent whatever the target does."""
PauseRate = Annotated[Rate, Field(ge=0, le=MAX_RATE)]
"""A rate of a stretch, which may be 0: a pause."""
Gaps = Literal["poisson", "constant"]


@dataclass(frozen=True)
class Piece:
    """A stretch of `seconds`, endless with infinity, in which the rate goes from `first` to `last` in a line."""

    seconds: float
    first: float
    last: float

    def rate_at(self, after: float) -> float:
        """The rate `after` seconds from its begin."""
        if self.first == self.last or math.isinf(self.seconds):
            return self.first
        return self.first + (self.last - self.first) * after / self.seconds

    def expected(self, seconds: float) -> float:
        """The requests that are due on average in its first `seconds`: the integral of the rate."""
        within = min(seconds, self.seconds)
        return (self.first + self.rate_at(within)) / 2 * within if self.first or self.last else 0.0

    def time_of(self, requests: float) -> float:
        """Seconds from its begin after which so many requests are due on average: the inverse of `expected`."""
        slope = 0.0 if math.isinf(self.seconds) else (self.last - self.first) / self.seconds
        # Written so that nothing cancels out where the rate changes little: x = 2 n / (a + sqrt(a^2 + 2 s n)).
        twice = self.first + math.sqrt(max(self.first**2 + 2 * slope * requests, 0.0))
        return min(2 * requests / twice, self.seconds) if twice else 0.0


def rate_at(pieces: Sequence[Piece], seconds: float) -> float:
    """The rate of `pieces`, one after the other, at `seconds` from the phase's start."""
    for piece in pieces:
        if seconds < piece.seconds:
            return piece.rate_at(seconds)
        seconds -= piece.seconds
    return 0.0


def expected(pieces: Sequence[Piece], seconds: float) -> float:
    """The requests that are due on average in the first `seconds` of `pieces`."""
    total = 0.0
    for piece in pieces:
        if seconds <= 0:
            break
        total += piece.expected(seconds)
        seconds -= piece.seconds
    return total


class _Planned(Frozen, ABC):
    """Arrivals whose rate is planned: an open loop, which never waits for an answer."""

    @abstractmethod
    def pieces(self) -> tuple[Piece, ...]:
        """The rate over a phase, from its start."""

    @property
    def varies(self) -> bool:
        """Whether the number of requests in a window is random."""
        return True

    def rate_at(self, seconds: float) -> float | None:
        """Requests per second at `seconds` from the phase's start."""
        return rate_at(self.pieces(), seconds)

    def mean_rate(self, seconds: float) -> float | None:
        """Requests per second, on average over the first `seconds` of a phase."""
        return expected(self.pieces(), seconds) / seconds if seconds > 0 else self.rate_at(0.0)


class RateArrivals(_Planned):
    """One rate all the time: an open loop that never waits for an answer."""

    process: Gaps
    """`poisson`: independent gaps, as many users make them; `constant`: equal gaps."""
    rate: OpenRate
    """Requests per second, minute or hour; they are sent whether or not earlier ones were answered."""

    def pieces(self) -> tuple[Piece, ...]:
        """One rate without end."""
        return (Piece(math.inf, self.rate, self.rate),)

    @property
    def varies(self) -> bool:
        """Whether the number of requests in a window is random."""
        return self.process == "poisson"

    def mean_rate(self, seconds: float) -> float:
        """The rate."""
        return self.rate

    def describe(self) -> str:
        """`20/s, poisson arrivals that wait for no answer`."""
        return f"{format_rate(self.rate)}, {self.process} arrivals that wait for no answer"


class GammaArrivals(_Planned):
    """One rate with gaps that are more or less alike than those of Poisson arrivals; an open loop."""

    process: Literal["gamma"]
    """Gaps with a gamma distribution."""
    rate: OpenRate
    """Requests per second, minute or hour."""
    burstiness: Annotated[float, Field(ge=MIN_BURSTINESS, le=MAX_BURSTINESS)]
    """The shape k of the gaps' distribution, as vLLM's --burstiness: 1 is poisson, less comes in bursts, more is
    evener; the gaps' standard deviation is their mean over the root of k."""

    def pieces(self) -> tuple[Piece, ...]:
        """One rate without end."""
        return (Piece(math.inf, self.rate, self.rate),)

    def mean_rate(self, seconds: float) -> float:
        """The rate."""
        return self.rate

    def describe(self) -> str:
        """The process in words."""
        return f"{format_rate(self.rate)}, gamma arrivals of burstiness {self.burstiness:g} that wait for no answer"


class ClosedArrivals(Frozen):
    """A closed loop: so many requests in flight, the next one when one ends; the target sets the rate."""

    process: Literal["closed"]
    """Fixed concurrency."""
    concurrency: Annotated[int, Field(ge=1, le=MAX_CONCURRENCY)]
    """Requests in flight at any time."""

    @property
    def varies(self) -> bool:
        """Whether the number of requests in a window is random."""
        return True

    def rate_at(self, seconds: float) -> float | None:
        """Unknown: the target sets it."""
        return None

    def mean_rate(self, seconds: float) -> float | None:
        """Unknown: the target sets it."""
        return None

    def describe(self) -> str:
        """The process in words."""
        return (
            f"{self.concurrency} at a time, a closed loop: the next request goes out when one has ended, at a rate "
            "that the target sets"
        )


class StaircaseArrivals(_Planned):
    """One rate after the other; an open loop."""

    process: Literal["staircase"]
    """Steps of the rate."""
    steps: Annotated[tuple[PauseRate, ...], Field(min_length=1, max_length=256)]
    """The rates in their order; the last one goes on to the end of the phase, and every phase begins with the first."""
    hold: Annotated[Duration, Field(gt=0)]
    """How long each step is."""
    gaps: Gaps = "poisson"
    """`poisson`: independent arrivals; `constant`: evenly spaced ones."""

    @model_validator(mode="after")
    def _sends(self) -> StaircaseArrivals:
        _check_some_rate(self.steps, "`steps`")
        return self

    def pieces(self) -> tuple[Piece, ...]:
        """A piece each; the last without end."""
        lengths = [self.hold] * (len(self.steps) - 1) + [math.inf]
        return tuple(Piece(seconds, rate, rate) for seconds, rate in zip(lengths, self.steps, strict=True))

    @property
    def varies(self) -> bool:
        """Whether the number of requests in a window is random."""
        return self.gaps == "poisson"

    def describe(self) -> str:
        """The process in words."""
        steps = ", ".join(map(format_rate, self.steps))
        return f"steps of {steps}, {format_duration(self.hold)} each, {self.gaps} arrivals that wait for no answer"


class RampArrivals(_Planned):
    """A rate that goes from one value to another in a line, and stays there; an open loop."""

    process: Literal["ramp"]
    """A rate that changes in a line."""
    from_: Annotated[PauseRate, Field(alias="from")]
    """The rate at the start of every phase; 0/s is allowed."""
    to: PauseRate
    """The rate at the end of the ramp, which goes on to the end of the phase."""
    over: Annotated[Duration, Field(gt=0)]
    """How long the ramp takes."""
    gaps: Gaps = "poisson"
    """`poisson`: independent arrivals; `constant`: evenly spaced ones by the rate of the moment."""

    @model_validator(mode="after")
    def _sends(self) -> RampArrivals:
        _check_some_rate((self.from_, self.to), "`from` and `to`")
        return self

    def pieces(self) -> tuple[Piece, ...]:
        """The ramp and what follows."""
        return (Piece(self.over, self.from_, self.to), Piece(math.inf, self.to, self.to))

    @property
    def varies(self) -> bool:
        """Whether the number of requests in a window is random."""
        return self.gaps == "poisson"

    def describe(self) -> str:
        """The process in words."""
        return (
            f"a ramp from {format_rate(self.from_)} to {format_rate(self.to)} over {format_duration(self.over)}, "
            f"{self.gaps} arrivals that wait for no answer"
        )


@dataclass(frozen=True)
class TraceRows:
    """The requests of a trace: seconds from the first one and, where they are told, lengths."""

    times: tuple[float, ...]
    inputs: tuple[int, ...] | None = None
    outputs: tuple[int, ...] | None = None

    def __str__(self) -> str:
        """A word for each request, which is the shortest form that a spec can hold."""
        columns = [map(_shortest, self.times), *(map(str, one) if one else None for one in (self.inputs, self.outputs))]
        given = [repeat("") if column is None else column for column in columns]
        return " ".join(",".join(row).rstrip(",") for row in zip(*given, strict=False))


@lru_cache(maxsize=64)
def _read_rows(text: str) -> TraceRows:
    """The inverse of `str` of `TraceRows`; a ValueError where `text` is no such thing."""
    try:
        cells = [(*word.split(","), "", "")[:3] for word in text.split()]
        times = tuple(float(time) for time, _, _ in cells)
        lengths = [tuple(int(row[at]) for row in cells) if cells[0][at] else None for at in (1, 2)]
    except (ValueError, IndexError):
        raise ValueError("`rows` holds no rows of a trace; leave it out, it is written from `file`") from None
    return TraceRows(times, *lengths)


def _shortest(time: float) -> str:
    return f"{time:.6f}".rstrip("0").rstrip(".")


def _in_order(times: Sequence[float]) -> bool:
    return times[0] >= 0 and all(earlier <= later for earlier, later in pairwise(times))


class TraceArrivals(Frozen):
    """The times of a recorded trace; an open loop."""

    process: Literal["trace"]
    """Replay of a file."""
    file: Annotated[str, Field(min_length=1, max_length=1_000)]
    """The CSV or JSON Lines file, beside the spec: Azure's, BurstGPT's or Mooncake's columns, or `at` in seconds."""
    speed: Annotated[float, Field(gt=0, le=1_000)] = 1.0
    """How much faster than recorded; 2 halves every gap."""
    repeat: bool = False
    """Start over when the trace ends before the phase; without it the load ends there."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """The file's digest, written when the file is read."""
    rows: str | None = None
    """What the file holds, written when it is read: a word for each request, of its time in seconds from the first one
    and, where the file tells them, the lengths of prompt and answer, such as `0.4,120,64`."""

    @model_validator(mode="after")
    def _whole(self) -> TraceArrivals:
        if self.rows is not None and not _in_order(_read_rows(self.rows).times):
            raise ValueError("`rows` are not in the order of their times; leave it out, it is written from `file`")
        return self

    @model_serializer(mode="wrap")
    def _as_given(self, handler: Any) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}

    @property
    def times(self) -> tuple[float, ...] | None:
        """When requests are due, in seconds from the trace's first one; None before the file is read."""
        return None if self.rows is None else _read_rows(self.rows).times

    @property
    def inputs(self) -> tuple[int, ...] | None:
        """The length of each prompt; None where the file does not tell."""
        return None if self.rows is None else _read_rows(self.rows).inputs

    @property
    def outputs(self) -> tuple[int, ...] | None:
        """The length of each answer; None where the file does not tell."""
        return None if self.rows is None else _read_rows(self.rows).outputs

    @property
    def varies(self) -> bool:
        """Whether the number of requests in a window is random."""
        return True

    @property
    def period(self) -> float | None:
        """Seconds after which a repeated trace starts over: its length and one mean gap, at its speed.

        None before the file is read, and for a single request, which has no gap.
        """
        times = self.times
        if times is None or len(times) < 2 or times[-1] == 0:
            return None
        return (times[-1] + times[-1] / (len(times) - 1)) / self.speed

    def rate_at(self, seconds: float) -> float | None:
        """The mean rate of the trace while it lasts; unknown before the file is read."""
        times, period = self.times, self.period
        if times is None or period is None:
            return None
        return len(times) / period if self.repeat or seconds < period else 0.0

    def mean_rate(self, seconds: float) -> float | None:
        """Requests per second over the first `seconds`, counted; unknown before the file is read."""
        times, period = self.times, self.period
        if times is None or seconds <= 0:
            return self.rate_at(0.0)
        if self.repeat and period is not None and seconds > period:
            return len(times) / period
        return bisect_left(times, seconds * self.speed) / seconds

    def describe(self) -> str:
        """The process in words."""
        speed = "" if self.speed == 1 else f" at {self.speed:g} times its speed"
        again = ", over and over" if self.repeat else ""
        return f"the times of {self.file}{speed}{again}, which wait for no answer"


Arrivals = RateArrivals | GammaArrivals | ClosedArrivals | StaircaseArrivals | RampArrivals | TraceArrivals
"""Every arrival process, told apart by `process`."""


def _check_some_rate(rates: Sequence[float], keys: str) -> None:
    if max(rates) == 0:
        raise ValueError(f"{keys} are all 0/s, and then no request is sent; write a rate above 0, such as 20/s")
