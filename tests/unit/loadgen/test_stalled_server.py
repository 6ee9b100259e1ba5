"""A server that stalls once, and a client with a cap of requests in flight: what its users saw, and what hides it.

In simulated time: the event loop's clock jumps to whatever is due next, so that nothing depends on the machine.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Iterator
from typing import Any

import pytest
from scripted_chat import call, token

from chaosgate.loadgen.delta import read_event
from chaosgate.loadgen.summary import Summary, summarise
from chaosgate.loadgen.trace import PhaseClock, Trace
from chaosgate.statistics.ranks import quantile_of

RATE, SECONDS, CAP = 50.0, 20.0, 10
STALL = (10.0, 12.0)
"""The server does nothing from the first to the second."""
SERVICE = 0.04
"""Seconds that it works on a request."""
DUE = [number / RATE for number in range(int(SECONDS * RATE))]


class Jumping(selectors.SelectSelector):
    """Waits for nothing: it says how long it would have waited."""

    waited = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.waited += max(timeout or 0.0, 0.0)
        return super().select(0)


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only where it would sleep."""

    def __init__(self) -> None:
        self._jumping = Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.waited


async def served() -> None:
    """One request at the server; what it was doing when it stalled it goes on with afterwards."""
    now = asyncio.get_running_loop().time()
    begin = STALL[1] if STALL[0] <= now < STALL[1] else now
    stalled = STALL[1] - STALL[0] if begin < STALL[0] < begin + SERVICE else 0.0
    await asyncio.sleep(begin - now + SERVICE + stalled)


async def load() -> Summary:
    """Every request in its turn: when it is due, or as soon after that as one of the slots is free."""
    loop = asyncio.get_running_loop()
    clock, slots, traces = PhaseClock(loop.time), asyncio.Semaphore(CAP), []

    async def ask(trace: Trace) -> None:
        async with slots:
            trace.stamp_sent()
            await served()
            trace.take(map(read_event, [token("blue", "stop").encode(), b"[DONE]"]), clock.now())
            trace.settle("ok")

    async with asyncio.TaskGroup() as group:
        for due in DUE:
            await asyncio.sleep(due - loop.time())
            traces.append(Trace(call(scheduled=due), clock))
            group.create_task(ask(traces[-1]))
    return summarise([trace.observation() for trace in traces], SECONDS)


def ends() -> Iterator[float]:
    """When each request ends, from the schedule alone: a slot is free for it once the one ten before it has ended."""
    ended: list[float] = []
    for number, due in enumerate(DUE):
        begin = max(due, ended[number - CAP]) if number >= CAP else due
        if STALL[0] <= begin < STALL[1]:
            begin = STALL[1]
        pause = STALL[1] - STALL[0] if begin < STALL[0] < begin + SERVICE else 0.0
        ended.append(begin + SERVICE + pause)
        yield ended[-1]


@pytest.fixture(scope="module")
def summary() -> Summary:
    loop = SimulatedLoop()
    try:
        return loop.run_until_complete(load())
    finally:
        loop.close()


@pytest.mark.parametrize(("name", "quantile"), [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)])
@pytest.mark.parametrize("kind", ["ttft", "e2e"])
def test_a_stall_shows_in_the_latency_as_the_schedule_says(
    kind: str, name: str, quantile: float, summary: Summary
) -> None:
    wanted = quantile_of((end - due for end, due in zip(ends(), DUE, strict=True)), quantile)
    assert getattr(summary.latencies[kind], name) == pytest.approx(wanted, rel=0.01)


def test_the_true_p95_is_more_than_a_second_and_the_service_time_hides_it(summary: Summary) -> None:
    assert 1.0 < summary.latencies["ttft"].p95 < 1.5
    assert summary.service_times.p95 == pytest.approx(SERVICE)


def test_a_client_that_holds_requests_back_is_said_to_lag(summary: Summary) -> None:
    assert 1.0 < summary.schedule_delay.p95 < summary.latencies["ttft"].p95
    assert summary.invalid is not None
    assert "the client lagged behind its schedule" in summary.invalid
