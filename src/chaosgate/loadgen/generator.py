"""The open loop: every request goes out when it is due, whatever has become of those before it."""

from __future__ import annotations

import asyncio
import gc
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import aiohttp

from chaosgate.errors import UsageError
from chaosgate.loadgen.arrivals import scheduled_times
from chaosgate.loadgen.client import ChatClient, open_session
from chaosgate.loadgen.trace import Call, Pending, PhaseClock, Trace
from chaosgate.model.observation import Observation
from chaosgate.model.request_id import request_id
from chaosgate.model.spec import Workload
from chaosgate.prompts.sets import prompt_set

MAX_IN_FLIGHT = 4096
"""Requests in flight at most. One that is due beyond that is recorded as refused by the client, never sent late."""
_SPARE_DESCRIPTORS = 256
"""Open files left for everything but the requests: logs, the event loop, the interpreter."""


@dataclass(frozen=True)
class LoadSettings:
    """The load of one phase. `url` is the gateway's address without /v1; times are in seconds."""

    url: str
    model: str
    workload: Workload
    phase: str
    seconds: float
    """How long requests are sent, warm-up included."""
    warmup: float
    """Requests due before this are marked as warm-up."""
    drain: float
    """How long outstanding requests may take once the sending is over."""
    max_in_flight: int = MAX_IN_FLIGHT

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UsageError(f"read the address {self.url!r}; write a URL such as http://127.0.0.1:8080")


class LoadGenerator:
    """Sends the load of one phase and hands over exactly one observation for every request that was due.

    `on_observation` is called in the event loop as each request ends and must be quick; what it raises ends the load
    and comes out of `run`. `clock` is the phase's clock: `scheduled` counts from its start.
    """

    def __init__(
        self, settings: LoadSettings, on_observation: Callable[[Observation], None], clock: PhaseClock
    ) -> None:
        self._settings = settings
        self._on_observation = on_observation
        self._clock = clock
        self._prompts = prompt_set(settings.workload.prompts.set)
        self._in_flight: dict[asyncio.Task[None], Trace] = {}
        self._failures: list[BaseException] = []

    @property
    def in_flight(self) -> int:
        """How many requests have been sent and not answered."""
        return len(self._in_flight)

    def pending(self) -> list[Pending]:
        """The requests that have been sent and not answered, in the order in which they were due."""
        return [trace.pending() for trace in self._in_flight.values()]

    async def run(self, until: asyncio.Event) -> None:
        """Send until the planned seconds have passed or `until` is set, then wait for the answers, `drain` at most.

        Requests still outstanding then, or when this call is cancelled, are observed as `timeout`, ended now.
        """
        _allow_descriptors(self._settings.max_in_flight + _SPARE_DESCRIPTORS)
        stop = asyncio.create_task(until.wait())
        try:
            async with open_session() as session:
                with _short_collections():
                    await self._run(self._client(session), stop)
        finally:
            stop.cancel()
        if self._failures:
            raise self._failures[0]

    async def _run(self, client: ChatClient, stop: asyncio.Task[Literal[True]]) -> None:
        try:
            await self._send_all(client, stop)
            if self._in_flight:
                await asyncio.wait(self._in_flight, timeout=self._settings.drain)
        finally:
            await self._give_up()

    async def _send_all(self, client: ChatClient, stop: asyncio.Task[Literal[True]]) -> None:
        for call in self._calls():
            await self._sleep_until(call.scheduled, stop)
            if stop.done() or self._failures:
                return
            self._launch(client, client.trace(call))
        await self._sleep_until(self._settings.seconds, stop)

    async def _sleep_until(self, due: float, stop: asyncio.Task[Literal[True]]) -> None:
        """Wait for `due` or `stop`, and at least one turn of the event loop, so that answers are read when late."""
        await asyncio.sleep(0)
        # Timers of an event loop may fire a millisecond early; a request must not go out before it is due.
        while (left := due - self._clock.now()) > 0 and not stop.done():
            await asyncio.wait({stop}, timeout=left)

    def _launch(self, client: ChatClient, trace: Trace) -> None:
        if len(self._in_flight) >= self._settings.max_in_flight:
            trace.settle("refused")
            self._on_observation(trace.observation())
            return
        task = asyncio.create_task(self._one(client, trace))
        self._in_flight[task] = trace
        task.add_done_callback(self._finished)

    async def _one(self, client: ChatClient, trace: Trace) -> None:
        try:
            await client.ask(trace)
        finally:
            self._on_observation(trace.observation())

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._in_flight.pop(task, None)
        if not task.cancelled() and (failure := task.exception()) is not None:
            self._failures.append(failure)

    async def _give_up(self) -> None:
        # Every task has begun by now, and so will report: each had its first turn before this one came round again.
        for task in self._in_flight:
            task.cancel()
        if self._in_flight:
            await asyncio.wait(self._in_flight)

    def _calls(self) -> Iterator[Call]:
        settings, workload = self._settings, self._settings.workload
        arrivals = workload.arrivals
        due = scheduled_times(arrivals.process, arrivals.rate, settings.seconds, workload.seed, settings.phase)
        for number, scheduled in enumerate(due):
            index = self._prompts.index(number)
            yield Call(
                request=request_id(workload.seed, settings.phase, number),
                phase=settings.phase,
                prompt_name=f"{self._prompts.name}/{index}",
                prompt=self._prompts.prompts[index],
                scheduled=scheduled,
                warmup=scheduled < settings.warmup,
            )

    def _client(self, session: aiohttp.ClientSession) -> ChatClient:
        workload = self._settings.workload
        return ChatClient(
            session,
            self._settings.url,
            model=self._settings.model,
            max_tokens=workload.max_tokens,
            seed=workload.seed,
            timeout=workload.timeout,
            clock=self._clock,
        )


@contextmanager
def _short_collections() -> Iterator[None]:
    """Keep the garbage collector from walking what exists already: the walk stops the client and delays requests."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _allow_descriptors(count: int) -> None:
    """Raise this process's soft limit of open files to `count`, as far as the hard limit allows.

    Many systems start with 1,024, fewer than a load with slow answers needs; beyond it connecting fails in the client.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
