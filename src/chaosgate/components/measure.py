"""measure: send the workload of one phase through the gateway and keep what client, gateway and engine saw."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chaosgate.artifacts import GAUGES, LEDGER, OBSERVATIONS, TIMELINE, Identity, write_lines
from chaosgate.components.definition import Context
from chaosgate.components.inputs import problem_before, read_endpoint, read_spec
from chaosgate.components.progress import tell
from chaosgate.components.watching import GaugeLog, GaugeWatch
from chaosgate.deploy.subject import read_subject
from chaosgate.errors import ChaosgateError, ClusterError, DeployError, GatewayError
from chaosgate.inject.http import GatewayAdmin, read_token
from chaosgate.inject.sweep import refuse_again
from chaosgate.loadgen.budgets import Spent
from chaosgate.loadgen.generator import LoadSettings
from chaosgate.loadgen.live import LiveSample, LiveStats, StopWatch
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.loadgen.workers import Load, open_load
from chaosgate.model.blocks import BASELINE, baseline_warmup, make_blocks
from chaosgate.model.named_slis import keeps_logprobs, keeps_texts
from chaosgate.model.observation import LedgerRow, Observation, TimelineEvent
from chaosgate.model.result import Endpoint, Status, Subject
from chaosgate.model.spec import ChaosSpec

POLL = 0.25
"""Seconds between two looks at the timeline."""
SECONDS_POLL = 0.5
"""Seconds between two looks at which one-second samples are whole."""
UNFINISHED_POLL = 0.1
"""Seconds between two looks at whether the gateway has finished every row."""
BLIND_AFTER = 10
"""Seconds after which what a stop condition watches must have been read."""
SHOWN_SECONDS = 5
"""The live numbers cover the last so many seconds."""
LEDGER_WAIT = 10.0
"""Seconds to wait for the gateway to finish the rows of requests whose client has gone."""


def run(context: Context) -> Status:
    """Measure one phase; declines when an earlier step left nothing to measure."""
    spec, identity = read_spec(context)
    before = problem_before(context, identity)
    if before is not None:
        return Status(status="declined", reason=before)
    endpoint = read_endpoint(context, identity)
    phase = Phase(spec, endpoint, context.arguments["phase"], float(context.arguments["seconds"]))
    asyncio.run(phase.measure())
    phase.write(context, identity)
    return Status(status="ok")


@dataclass
class Phase:
    """One phase while it is measured. Lists grow as things are seen; times of gauges are the gateway's."""

    spec: ChaosSpec
    endpoint: Endpoint
    name: str
    seconds: float
    observations: list[Observation] = field(default_factory=list)
    gauges: GaugeLog | None = None
    """None until the load has started."""
    ledger: Sequence[LedgerRow] = ()
    timeline: Sequence[TimelineEvent] = ()
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def warmup(self) -> float:
        """Seconds of warm-up and of settling, which nothing judges; only the baseline has them."""
        return baseline_warmup(self.spec) if self.name == BASELINE else 0.0

    @property
    def planned(self) -> float | None:
        """Requests that the phase plans after its warm-up, None where the target sets their rate.

        A block that is waited for lasts longer than it plans.
        """
        lengths = {block.phase: block.length for block in make_blocks(self.spec)}
        seconds = lengths.get(self.name, self.seconds)
        rate = self.spec.spec.workload.mean_rate(seconds)
        return None if rate is None else rate * (seconds - self.warmup)

    async def measure(self) -> None:
        """Load with its watchers beside it, then what the gateway kept of it."""
        async with GatewayAdmin(self.endpoint.admin, read_token(self.endpoint.token)) as admin:
            await refuse_again(admin, self.name, "started")
            clock, stats = PhaseClock(), LiveStats()
            load = open_load(self.settings(), self.observer(stats), clock)
            await load.prepare()
            started = await admin.post("started", phase=self.name, detail={"warmup": self.warmup})
            clock.restart()
            self.gauges = GaugeLog(self.name, clock, started)
            gauges = GaugeWatch(self.spec, self.endpoint, self.gauges)
            watching = (
                self.watch_timeline(admin),
                self.watch_seconds(admin, stats, load, clock),
                *gauges.watchers(),
            )
            watchers = [asyncio.create_task(self.ending(watcher)) for watcher in watching]
            try:
                await load.run(self.over)
            finally:
                await end(watchers)
            await self.post_subject(admin)
            spent = Spent().more(self.observations)
            detail = {"tokens": spent.completion, "promptTokens": spent.prompt}
            await admin.post("done", phase=self.name, detail=detail)
            await self.collect(admin)

    def settings(self) -> LoadSettings:
        """The load of this phase."""
        workload = self.spec.spec.workload
        model = self.spec.spec.target.model
        return LoadSettings(
            self.endpoint.url,
            model,
            workload,
            self.name,
            self.seconds,
            self.warmup,
            drain=workload.timeout,
            texts=keeps_texts(self.spec),
            logprobs=keeps_logprobs(self.spec),
        )

    def observer(self, stats: LiveStats) -> Callable[[Observation], None]:
        """Keep each observation, and count it in the live numbers."""

        def observe(observation: Observation) -> None:
            self.observations.append(observation)
            stats.add(observation)

        return observe

    async def ending(self, watcher: Coroutine[Any, Any, None]) -> None:
        """Run a watcher; when it fails the load ends, for what is sent from then on could not be judged."""
        try:
            await watcher
        except ChaosgateError:
            self.over.set()
            raise

    async def watch_timeline(self, admin: GatewayAdmin) -> None:
        """End the load once nothing follows: a block's sweep and recovery are over, or the run was halted."""
        while True:
            if any(map(ends_load, await admin.timeline(self.name))):
                self.over.set()
                return
            await asyncio.sleep(POLL)

    async def watch_seconds(self, admin: GatewayAdmin, stats: LiveStats, load: Load, clock: PhaseClock) -> None:
        """Each second: tell the numbers, and halt the run at the gateway when a stop condition holds."""
        watch = StopWatch(self.spec.spec.safety.stop_when, self.planned, await self.spent_before(admin))
        recent: deque[LiveSample] = deque(maxlen=SHOWN_SECONDS)
        halted = False
        while True:
            await asyncio.sleep(SECONDS_POLL)
            for sample in stats.close(clock.now()):
                recent.append(sample)
                present = self.gauges.present() if self.gauges else {}
                self.tell_blind(sample, present)
                reason = watch.judge(sample, load.pending(), present)
                if reason is not None and not halted:
                    halted = True
                    await admin.halt(reason)
            self.tell_load(recent, clock.now())

    def tell_blind(self, sample: LiveSample, present: Mapping[str, float]) -> None:
        """Say what stop conditions watch and nobody reads, once the load runs long enough for it to have come."""
        conditions, source = self.spec.spec.safety.stop_when, self.spec.spec.metrics.prometheus
        if self.gauges is None or sample.second < BLIND_AFTER + (2 * source.every if source is not None else 0):
            return
        named = {reading.gauge for condition in conditions for reading in condition.readings} - {None}
        for gauge in sorted(map(str, named - present.keys())):
            self.gauges.lack(gauge, "a stop condition watches it, and cannot hold while it is not read")
        budget = any(condition.prompt_tokens is not None for condition in conditions)
        whole = [seen for seen in sample.observations if seen.outcome == "ok"]
        if budget and whole and all(seen.prompt_tokens is None for seen in whole):
            self.gauges.lack("promptTokens", "a stop condition counts them, and the server's answers do not tell them")

    async def spent_before(self, admin: GatewayAdmin) -> Spent:
        """The tokens that the baseline has cost; a budget is one for the whole run."""
        before = () if self.name == BASELINE else await admin.timeline(BASELINE)
        details = [event.detail for event in before if event.event == "done"]
        counts = [(int(one.get("tokens", 0)), int(one.get("promptTokens", 0))) for one in details]
        return Spent(sum(tokens for tokens, _ in counts), sum(prompt for _, prompt in counts))

    def tell_load(self, recent: deque[LiveSample], elapsed: float) -> None:
        """One progress line over the last few seconds."""
        shown = LiveSample(0, tuple(seen for sample in recent for seen in sample.observations))
        tell(
            "load",
            phase=self.name,
            elapsed=elapsed,
            requests=len(self.observations),
            ttft_p99=shown.ttft_p99,
            error_rate=shown.error_rate,
        )

    async def post_subject(self, admin: GatewayAdmin) -> None:
        """Read the subject back after the last request; without an answer the timeline lacks it, which judge sees."""
        try:
            subject = await self.read_subject()
        except (ClusterError, DeployError) as error:
            tell("note", phase=self.name, text=f"the subject could not be read back: {error}")
            return
        await admin.post("subject", phase=self.name, detail=subject.to_json())

    async def read_subject(self) -> Subject:
        """What answers now, and on a cluster the image that it runs."""
        subject = await read_subject(self.endpoint.url, self.spec.spec.target.model)
        if self.endpoint.target is None:
            return subject
        from chaosgate.components import on_cluster

        return await asyncio.to_thread(on_cluster.with_image, subject, self.endpoint.target)

    async def collect(self, admin: GatewayAdmin) -> None:
        """Ledger and timeline of the phase, once the gateway has finished every row."""
        deadline = asyncio.get_running_loop().time() + LEDGER_WAIT
        while (await admin.status()).unfinished:
            if asyncio.get_running_loop().time() > deadline:
                raise GatewayError(f"{self.name}: the gateway still has unfinished requests after {LEDGER_WAIT:.0f} s")
            await asyncio.sleep(UNFINISHED_POLL)
        self.ledger = await admin.ledger(self.name)
        self.timeline = await admin.timeline(self.name)

    def write(self, context: Context, identity: Identity) -> None:
        """The four files of the phase."""
        write_lines(context.outputs["observations"], OBSERVATIONS, identity, self.observations)
        write_lines(context.outputs["ledger"], LEDGER, identity, self.ledger)
        write_lines(context.outputs["timeline"], TIMELINE, identity, self.timeline)
        write_lines(context.outputs["gauges"], GAUGES, identity, self.gauges.readings if self.gauges else ())


def ends_load(event: TimelineEvent) -> bool:
    """Whether no more injections follow: inject says so, it let a fault expire, as only a dead one does, or a halt."""
    return event.event in ("injected", "halt") or (event.event == "off" and event.detail.get("why") == "expired")


async def end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel the watchers; what one of them failed of is raised."""
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    failures = [result for result in results if isinstance(result, Exception)]
    if failures:
        raise failures[0]
