"""A load that is sent by several processes, because one core is not enough: looked at from outside it is one load.

Every process plans the whole load, which is a pure function of the workload, and sends every n-th request of it; what
the server sees is the process that the spec names, whole. Times are those of one clock, which all processes share.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from pydantic import TypeAdapter

from chaosgate.errors import LoadError, one_line
from chaosgate.loadgen.calls import Calls
from chaosgate.loadgen.generator import LoadGenerator, LoadSettings
from chaosgate.loadgen.shared_counter import CounterFile, SharedCounter
from chaosgate.loadgen.trace import Pending, PhaseClock
from chaosgate.loadgen.worker import LINE_LIMIT, PENDING
from chaosgate.model.observation import Observation

READY_WAIT = 60.0
"""Seconds that processes may take to start: a busy machine needs several to read Python's modules."""
END_WAIT = 10.0
"""Seconds that a process that is told to give up may take until it is killed."""
_SAID = 400
"""Characters of what a dead process said last that are told."""
_SETTINGS = TypeAdapter(LoadSettings)


class Load(Protocol):
    """A load, sent by one process or by several."""

    @property
    def in_flight(self) -> int:
        """How many requests have been sent and not answered."""

    def pending(self) -> list[Pending]:
        """The requests that have been sent and not answered, in the order in which they were due."""

    async def prepare(self) -> None:
        """Make ready what takes long, so that `run` sends at once; the clock is to be started after it."""

    async def run(self, until: asyncio.Event) -> None:
        """Send until the planned seconds have passed or `until` is set, then wait for the answers."""


def open_load(settings: LoadSettings, on_observation: Callable[[Observation], None], clock: PhaseClock) -> Load:
    """The load of `settings`, sent by as many processes as its workload's `workers` says.

    Await `prepare`, start `clock` again, then await `run`: starting processes takes a second, and a clock that runs
    meanwhile makes the first requests late. A UsageError where the workload's prompts are unknown.
    """
    if settings.workload.workers == 1:
        return LoadGenerator(settings, on_observation, clock)
    return WorkerLoad(settings, on_observation, clock)


class WorkerLoad:
    """The load of several processes. `pending` is as they last reported, four times a second.

    A process that ends before its part is sent is a LoadError; the others give their requests up then. Whatever ends
    this process ends them: they watch the pipe that it holds.
    """

    def __init__(
        self, settings: LoadSettings, on_observation: Callable[[Observation], None], clock: PhaseClock
    ) -> None:
        # What is wrong with the workload is said here and not by each process.
        Calls(settings.workload, settings.phase, settings.warmup)
        self._settings = settings
        self._on_observation = on_observation
        self._clock = clock
        self._counter: CounterFile | None = None
        self._workers: list[_Worker] = []

    @property
    def in_flight(self) -> int:
        """How many requests have been sent and not answered, as last reported."""
        return sum(len(worker.pending) for worker in self._workers)

    def pending(self) -> list[Pending]:
        """The requests that have been sent and not answered, in the order in which they were due, as last reported."""
        every = [one for worker in self._workers for one in worker.pending.values()]
        return sorted(every, key=lambda one: one.scheduled)

    async def prepare(self) -> None:
        """Start the processes and wait until each is ready; a LoadError where one is not."""
        if self._workers:
            return
        of = self._settings.workload.workers
        self._counter = CounterFile()
        counter = self._counter.counter()
        self._workers = [_Worker(index, of, self._on_observation) for index in range(of)]
        try:
            async with asyncio.timeout(READY_WAIT):
                await asyncio.gather(*(worker.start(self._settings, counter) for worker in self._workers))
        except TimeoutError:
            await self._end()
            raise LoadError(f"{of} load processes were not ready within {READY_WAIT:g} s; use fewer workers") from None
        except BaseException:
            await self._end()
            raise

    async def run(self, until: asyncio.Event) -> None:
        """Send until the planned seconds have passed or `until` is set, then wait for the answers, `drain` at most.

        Requests still outstanding then, or when this call is cancelled, are observed as `timeout`.
        """
        await self.prepare()
        start = time.monotonic() - self._clock.now()
        stop = asyncio.create_task(until.wait())
        reading = [asyncio.create_task(worker.follow(start)) for worker in self._workers]
        try:
            await asyncio.wait({stop, *reading}, return_when=asyncio.FIRST_COMPLETED)
            if stop.done():
                for worker in self._workers:
                    worker.tell("stop")
            await asyncio.gather(*reading)
        finally:
            stop.cancel()
            await self._end(reading)

    async def _end(self, reading: Sequence[asyncio.Task[None]] = ()) -> None:
        """End every process: first they are asked, and hand in what they saw; those that do not answer are killed."""
        for worker in self._workers:
            worker.hang_up()
        try:
            if reading:
                await asyncio.wait(reading, timeout=END_WAIT)
        finally:
            for task in reading:
                task.cancel()
            await asyncio.gather(*(worker.end() for worker in self._workers), *reading, return_exceptions=True)
            if self._counter is not None:
                self._counter.close()


class _Worker:
    """One process, from the side of its parent."""

    def __init__(self, index: int, of: int, on_observation: Callable[[Observation], None]) -> None:
        self._index, self._of = index, of
        self._on_observation = on_observation
        self._process: asyncio.subprocess.Process | None = None
        # Closed in `end`: it lives as long as the process that writes to it.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.pending: dict[str, Pending] = {}
        """What is in flight, by the request's name."""

    async def start(self, settings: LoadSettings, counter: SharedCounter) -> None:
        """Start it with its task and wait until it is ready."""
        self._process = await asyncio.create_subprocess_exec(
            # With -m alone, Python would look for modules in the current directory first.
            *(sys.executable, "-P", "-m", "chaosgate.loadgen.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._errors,
            pass_fds=(counter.descriptor,),
            limit=LINE_LIMIT,
        )
        part = (self._index, self._of)
        most = -(-settings.max_in_flight // self._of)
        task = {**_SETTINGS.dump_python(settings, mode="json", by_alias=True), "max_in_flight": most}
        self.tell(json.dumps({"settings": task, "part": part, "counter": counter.descriptor}))
        await self._line("r")

    def tell(self, line: str) -> None:
        """Say a line to it; one that has ended hears nothing."""
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(ConnectionError):
            self._process.stdin.write(line.encode() + b"\n")

    def hang_up(self) -> None:
        """End what it can read: it gives up what is in flight."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def follow(self, start: float) -> None:
        """Let it begin, and take what it says until its part is over; a LoadError when it ends before that."""
        self.tell(json.dumps(start))
        while (said := await self._line()) != b"d":
            self._take(said)

    def _take(self, said: bytes) -> None:
        if said.startswith(b"o"):
            observation = Observation.model_validate_json(said[1:])
            self.pending.pop(observation.request, None)
            self._on_observation(observation)
        elif said.startswith(b"p"):
            self.pending = {one.request: one for one in PENDING.validate_json(said[1:])}

    async def _line(self, wanted: str | None = None) -> bytes:
        """The next line, without its end; a LoadError where none comes any more."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line.endswith(b"\n") or (wanted is not None and line[:1] != wanted.encode()):
            code = await self._process.wait()
            said = f": {self._last_words()}" if self._last_words() else ""
            name = f"load process {self._index + 1} of {self._of}"
            raise LoadError(f"{name} ended with code {code} before its part was sent, and its requests are lost{said}")
        return line[:-1]

    def _last_words(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _SAID))
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return one_line(lines[-1]) if lines else ""

    async def end(self) -> None:
        """Wait for its end, and kill it when that does not come."""
        process = self._process
        if process is None:
            return
        try:
            async with asyncio.timeout(END_WAIT):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        finally:
            self._errors.close()
