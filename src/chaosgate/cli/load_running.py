"""A load from its start to its end, as `chaosgate load` runs it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn

import click
import uvloop
from rich.console import Console

from chaosgate.cli.console import make_console
from chaosgate.cli.load_options import PHASE, LoadOptions, LoadPlan, load_plan
from chaosgate.cli.load_server import Server, base_url, find_server, key_headers
from chaosgate.cli.load_tally import Goal, Numbers, Tally
from chaosgate.cli.load_view import follow
from chaosgate.errors import one_line
from chaosgate.loadgen.generator import LoadSettings
from chaosgate.loadgen.live import LiveStats, StopWatch
from chaosgate.loadgen.saturation import StepResult, at_rate, run_sweep
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.loadgen.workers import Load, open_load
from chaosgate.model.observation import Observation
from chaosgate.model.uri import without_password
from chaosgate.units import format_duration, format_rate

SECONDS_POLL = 0.5
"""Seconds between two looks at the stop conditions."""


@dataclass
class Measured:
    """What a load brought. Times of the observations count from the start of their phase."""

    server: Server
    started: datetime
    observations: list[Observation]
    seconds: float = 0.0
    """How long requests were due."""
    steps: list[StepResult] = field(default_factory=list)
    stopped: str | None = None
    """The stop condition that ended it."""
    signal: int | None = None
    """The signal that ended it."""


def run(options: LoadOptions) -> NoReturn:
    """Measure and report; ends with the exit code. A ChaosgateError says what stands in the way."""
    plan = load_plan(options)
    url, headers = base_url(options.url), key_headers(options.api_key_env)
    quiet = options.output == "json"
    measured = uvloop.run(_measure(plan, options, url, headers, Console(quiet=True) if quiet else make_console()))
    from chaosgate.cli.load_report import finish

    raise click.exceptions.Exit(finish(options, plan, measured))


async def _measure(
    plan: LoadPlan, options: LoadOptions, url: str, headers: dict[str, str], console: Console
) -> Measured:
    runner = Runner(plan)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, runner.told, number)
    patience = plan.workload.timeout
    server = await runner.or_ended(find_server(url, options.model, headers, check=options.check, patience=patience))
    console.print(headline(plan, server), markup=False, highlight=False)
    title = f"chaosgate load {without_password(url)}"
    async with _beside(follow(runner.numbers, console, title, live=options.live), runner.watch_stops()):
        return await runner.run(server, lambda step: console.print(step_line(step), markup=False, highlight=False))


def headline(plan: LoadPlan, server: Server) -> str:
    """`http://127.0.0.1:8000, model m: 20/s, poisson arrivals that wait for no answer, for 30s, seed 1`."""
    what = "; ".join(stream.arrivals.describe() for stream in plan.workload.streams())
    if plan.sweep is not None:
        what = f"a sweep from {format_rate(plan.sweep.start)}, {format_duration(plan.sweep.hold)} a step"
    length = "" if plan.sweep else f", {_length(plan)}"
    return f"{without_password(server.url)}, model {one_line(server.model)}: {what}{length}, seed {plan.workload.seed}"


def _length(plan: LoadPlan) -> str:
    return f"{plan.requests} requests" if plan.requests is not None else f"for {format_duration(plan.seconds)}"


def step_line(step: StepResult) -> str:
    """`step 20/s: held: answers came at 99.8 % of the requested rate`."""
    return f"step {format_rate(step.rate)}: {step.end}: {step.why}"


@asynccontextmanager
async def _beside(*watchers: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """The watchers run for as long as the block does; one that fails ends it."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(watcher) for watcher in watchers]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


class Runner:
    """Sends the load of a plan, and ends it when told so."""

    def __init__(self, plan: LoadPlan) -> None:
        self._plan = plan
        self._tally = Tally()
        self._stats = LiveStats()
        self._clock = PhaseClock()
        self._load: Load | None = None
        self._sending: asyncio.Task[Any] | None = None
        self._until = asyncio.Event()
        self._signal: int | None = None
        self._stopped: str | None = None
        self._given_up = False
        self._rate: float | None = None
        """The rate of a sweep's step."""

    def told(self, number: int) -> None:
        """A signal came: the first one ends the sending, a second one gives up what is in flight."""
        if self._signal is None:
            self._signal = number
            self._until.set()
        elif self._sending is not None:
            self._given_up = True
            self._sending.cancel()

    async def or_ended(self, coroutine: Coroutine[Any, Any, Server]) -> Server:
        """What `coroutine` gives; a signal that comes before ends the program."""
        task = asyncio.create_task(coroutine)
        told = asyncio.create_task(self._until.wait())
        await asyncio.wait({task, told}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
            raise click.exceptions.Exit(128 + (self._signal or signal.SIGINT))
        told.cancel()
        return task.result()

    async def run(self, server: Server, on_step: Callable[[StepResult], None]) -> Measured:
        """Send all of it."""
        measured = Measured(server, datetime.now(UTC), self._tally.observations)
        self._sending = asyncio.create_task(self._send(server, measured, on_step))
        try:
            await self._sending
        except asyncio.CancelledError:
            if not self._given_up:
                raise
        measured.seconds = measured.seconds or self._clock.now()
        measured.stopped, measured.signal = self._stopped, self._signal
        return measured

    async def _send(self, server: Server, measured: Measured, on_step: Callable[[StepResult], None]) -> None:
        settings = self._settings(server)
        if self._plan.sweep is None:
            await self._once(settings, measured)
            return

        make = at_rate(settings)

        def begin(rate: float, number: int) -> LoadSettings:
            self._rate, self._stats = rate, LiveStats()
            self._tally.forget()
            self._clock.restart()
            return make(rate, number)

        def end(result: StepResult) -> None:
            measured.steps.append(result)
            on_step(result)

        await run_sweep(begin, self._plan.sweep, self._until, self._observe, end, self._broken)

    async def _once(self, settings: LoadSettings, measured: Measured) -> None:
        self._load = open_load(settings, self._observe, self._clock)
        await self._load.prepare()
        self._clock.restart()
        noting = asyncio.create_task(self._note_end(measured))
        try:
            await self._load.run(self._until)
        finally:
            noting.cancel()
        if self._plan.requests is not None and self._tally.observations and self._signal is None:
            measured.seconds = max(one.scheduled for one in self._tally.observations)
        measured.seconds = measured.seconds or min(self._plan.seconds, self._clock.now())

    async def _note_end(self, measured: Measured) -> None:
        """Note when the sending ended early: no request is due after that."""
        await self._until.wait()
        measured.seconds = min(self._plan.seconds, self._clock.now())

    def _settings(self, server: Server) -> LoadSettings:
        plan = self._plan
        return LoadSettings(
            url=server.url,
            model=server.model,
            workload=plan.workload,
            phase=PHASE,
            seconds=plan.seconds,
            warmup=plan.warmup,
            drain=plan.workload.timeout,
            requests=plan.requests,
            headers=server.headers,
            texts=any(kind.reads_text for kind in plan.kinds),
            logprobs=any(kind.reads_logprobs for kind in plan.kinds),
        )

    def _observe(self, observation: Observation) -> None:
        # What a person gives up says nothing of the server.
        if self._given_up and observation.outcome == "timeout":
            observation = observation.model_copy(update={"outcome": "cancelled"})
        self._tally.add(observation)
        self._stats.add(observation)

    def numbers(self) -> Numbers:
        """The numbers now."""
        plan, now = self._plan, self._clock.now()
        if plan.sweep is not None:
            return self._tally.read(now, None, self._rate, Goal(plan.sweep.hold, None))
        pending = self._load.pending() if self._load is not None else []
        return self._tally.read(now, pending, plan.workload.rate_at(now), Goal(plan.seconds, plan.requests))

    def _broken(self, observations: Sequence[Observation]) -> str | None:
        """Why a step breaks an SLO, None while it breaks none for sure."""
        from chaosgate.cli.load_slo import judge, slo_words

        assert self._plan.sweep is not None
        results = judge(self._plan.slos, self._plan.good, observations, (0.0, self._plan.sweep.hold))
        return next((slo_words(one) for one in results if one.verdict == "missed"), None)

    async def watch_stops(self) -> None:
        """End the sending once a stop condition holds."""
        watch = StopWatch(self._plan.stops)
        while self._plan.stops and self._stopped is None:
            await asyncio.sleep(SECONDS_POLL)
            for sample in self._stats.close(self._clock.now()):
                reason = watch.judge(sample, self._load.pending() if self._load is not None else [])
                if reason is not None and self._stopped is None:
                    self._stopped = reason
                    self._until.set()
