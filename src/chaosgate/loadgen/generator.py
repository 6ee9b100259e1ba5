"""The load of one process: an open loop, in which every request goes out when it is due, or a closed one of slots."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

import aiohttp

from chaosgate.errors import UsageError
from chaosgate.loadgen.calls import WHOLE, Calls, Part
from chaosgate.loadgen.client import ChatClient, open_session
from chaosgate.loadgen.trace import Pending, PhaseClock, Trace
from chaosgate.model.arrivals import MAX_CONCURRENCY
from chaosgate.model.observation import Observation
from chaosgate.model.workload import Workload
from chaosgate.serving import allow_files, short_collections
from chaosgate.sleepers import Sleepers

MAX_IN_FLIGHT = MAX_CONCURRENCY
"""Requests in flight at most. One that is due beyond that is recorded as refused by the client, never sent late."""
EXACT_FROM = 0.010
"""A request that is due in so many seconds or more goes out when it is due: the loop turns for the last of them
instead of sleeping, for a fifth of a core at most. Closer requests are left to timers, which costs nothing."""
_SPARE_FILES = 256
"""Open files left for everything but the requests: logs, the event loop, the interpreter."""


@dataclass(frozen=True)
class LoadSettings:
    """The load of one phase. `url` is the gateway's or the server's address without /v1; times are in seconds."""

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
    requests: int | None = None
    """How many requests are sent at most, after which the load is over; None: as many as are due."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers that every request has besides its own, such as the key of a server."""
    texts: bool = False
    """Whether observations hold what was answered."""
    logprobs: bool = False
    """Whether the server is asked for the log-probabilities of its tokens."""

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UsageError(f"read the address {self.url!r}; write a URL such as http://127.0.0.1:8080")
        slots = self.workload.concurrency
        if slots is not None and slots > self.max_in_flight:
            raise UsageError(f"read a concurrency of {slots}; at most {self.max_in_flight} requests may be in flight")


class LoadGenerator:
    """Sends the load of one phase and hands over exactly one observation for every request that was due.

    `on_observation` is called in the event loop as each request ends and must be quick; what it raises ends the load
    and comes out of `run`. `clock` is the phase's clock: `scheduled` counts from its start. In a closed loop a request
    is due when its slot falls free. `part` is what this process sends of the load; `numbers` gives the next request of
    a closed loop its number, one that no other process gets.
    """

    def __init__(
        self,
        settings: LoadSettings,
        on_observation: Callable[[Observation], None],
        clock: PhaseClock,
        part: Part = WHOLE,
        numbers: Callable[[], int] | None = None,
    ) -> None:
        self._settings = settings
        self._on_observation = on_observation
        self._clock = clock
        self._part = part
        self._numbers = numbers or count().__next__
        self._calls = Calls(settings.workload, settings.phase, settings.warmup)
        self._sleepers = Sleepers(clock.now)
        self._in_flight: dict[asyncio.Task[None], Trace] = {}
        self._failures: list[BaseException] = []
        self._prepared = False

    @property
    def in_flight(self) -> int:
        """How many requests have been sent and not answered."""
        return len(self._in_flight)

    def pending(self) -> list[Pending]:
        """The requests that have been sent and not answered, in the order in which they were due."""
        return [trace.pending() for trace in self._in_flight.values()]

    async def prepare(self) -> None:
        """Make ready what takes long, so that `run` sends at once; the clock is to be started after it."""
        allow_files(self._settings.max_in_flight + _SPARE_FILES)
        # What is imported for the first draw is there when it counts.
        next(self._calls.due(self._settings.seconds, self._part), None)
        gc.collect()
        self._prepared = True

    async def run(self, until: asyncio.Event) -> None:
        """Send until the planned seconds have passed or `until` is set, then wait for the answers, `drain` at most.

        Requests still outstanding then, or when this call is cancelled, are observed as `timeout`, ended now.
        """
        if not self._prepared:
            await self.prepare()
        stop = asyncio.create_task(until.wait())
        stop.add_done_callback(lambda _: self._sleepers.release())
        try:
            async with open_session(self._settings.headers) as session:
                with short_collections():
                    await self._run(self._client(session), stop)
        finally:
            stop.cancel()
        if self._failures:
            raise self._failures[0]

    async def _run(self, client: ChatClient, stop: asyncio.Task[Literal[True]]) -> None:
        try:
            if self._settings.workload.concurrency is None:
                await self._send_due(client, stop)
            else:
                await self._send_in_turn(client, stop, self._part.share(self._settings.workload.concurrency))
            if self._in_flight:
                await asyncio.wait(self._in_flight, timeout=self._settings.drain)
        finally:
            await self._give_up()

    async def _send_due(self, client: ChatClient, stop: asyncio.Task[Literal[True]]) -> None:
        for call in self._calls.due(self._settings.seconds, self._part, self._settings.requests):
            await self._sleep_until(call.scheduled)
            if stop.done() or self._failures:
                return
            self._launch(client, client.trace(call))
        if self._settings.requests is None:
            await self._sleep_until(self._settings.seconds)

    async def _send_in_turn(self, client: ChatClient, stop: asyncio.Task[Literal[True]], slots: int) -> None:
        def ended(slot: asyncio.Task[None]) -> None:
            # A failure ends the load, and nothing else would wake the sleep below.
            if not slot.cancelled() and (failure := slot.exception()) is not None:
                self._failures.append(failure)
                stop.cancel()

        for _ in range(slots):
            asyncio.create_task(self._keep_busy(client, stop)).add_done_callback(ended)
        await self._sleep_until(self._settings.seconds)

    async def _keep_busy(self, client: ChatClient, stop: asyncio.Task[Literal[True]]) -> None:
        """One slot of a closed loop: the next request goes out as soon as the last one has ended."""
        slot = asyncio.current_task()
        assert slot is not None
        while (trace := self._next(client, stop)) is not None:
            self._in_flight[slot] = trace
            try:
                await self._one(client, trace)
            finally:
                del self._in_flight[slot]

    def _next(self, client: ChatClient, stop: asyncio.Task[Literal[True]]) -> Trace | None:
        """The next request of a closed loop, due now; None once no more is to be sent."""
        if stop.done() or stop.cancelling() or (now := self._clock.now()) >= self._settings.seconds:
            return None
        number = self._numbers()
        if self._settings.requests is not None and number >= self._settings.requests:
            # All are sent; nothing else would wake the sleep until the load's end.
            stop.cancel()
            return None
        return client.trace(self._calls.next(number, now))

    async def _sleep_until(self, due: float) -> None:
        """Wait for `due` or the end, and at least one turn of the event loop, so that answers are read when late."""
        await asyncio.sleep(0)
        await self._sleepers.until(due, exact=due - self._clock.now() >= EXACT_FROM)

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
            patience = trace.call.cancel_after
            await (client.ask(trace) if patience is None else _ask_for(patience, client, trace))
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
            texts=self._settings.texts,
            logprobs=self._settings.logprobs,
        )


async def _ask_for(seconds: float, client: ChatClient, trace: Trace) -> None:
    """Ask, and close the connection as its client gives the request up where its answer is not whole by then."""
    try:
        async with asyncio.timeout(seconds):
            await client.ask(trace)
    except TimeoutError:
        trace.settle("ok" if trace.finished else "cancelled")
