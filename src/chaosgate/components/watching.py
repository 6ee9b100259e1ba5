"""The gauges of a phase, read beside its load: the engine's, the faults' targets', Prometheus' and the machine's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any

import aiohttp

from chaosgate.components.progress import tell
from chaosgate.errors import ClusterError, GaugeError
from chaosgate.loadgen.gauges import read_gauges
from chaosgate.loadgen.host import HostReader
from chaosgate.loadgen.prometheus_query import PrometheusClient
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.model.gauges import Metrics, PrometheusSource, PromQuery, prometheus_gauge
from chaosgate.model.observation import Gauge
from chaosgate.model.result import Endpoint
from chaosgate.model.spec import ChaosSpec

EVERY = 1.0
"""Seconds between two readings of all but Prometheus."""
FRESH = 3.0
"""Seconds for which a reading tells of the present, as three readings in a row may be missed."""
ENGINE, HOST, PROMETHEUS = "vllm:*", "host:*", "prom:*"
"""What a whole source is called where none of it can be read."""

Values = Mapping[str, float]


class GaugeLog:
    """What was read in a phase. Times of readings are the gateway's, those of arguments the phase's."""

    def __init__(self, phase: str, clock: PhaseClock, started: float) -> None:
        self.phase, self.clock, self.started = phase, clock, started
        self.readings: list[Gauge] = []
        self._latest: dict[str, tuple[float, float]] = {}
        self._told: set[tuple[str, str]] = set()

    def add(self, values: Values, at: float | None = None, fresh: float = FRESH) -> None:
        """Keep `values`, read at `at` or now; for `fresh` seconds from then on they tell of the present."""
        when = self.clock.now() if at is None else at
        for name, value in values.items():
            self.readings.append(Gauge(at=self.started + when, phase=self.phase, name=name, value=value))
            self._latest[name] = (value, when + fresh)

    def lack(self, name: str, reason: str) -> None:
        """Keep that `name` cannot be read, and tell it, once for each reason."""
        if (name, reason) in self._told:
            return
        self._told.add((name, reason))
        at = self.started + self.clock.now()
        self.readings.append(Gauge(at=at, phase=self.phase, name=name, value=None, reason=reason))
        tell("note", phase=self.phase, text=f"no reading of {name}: {reason}")

    def present(self) -> dict[str, float]:
        """The last value of each gauge that was read lately enough to tell of the present."""
        now = self.clock.now()
        return {name: value for name, (value, until) in self._latest.items() if now <= until}


class GaugeWatch:
    """Reads every source of a phase's gauges. What cannot be read leaves a gap in `log`, with its reason."""

    def __init__(self, spec: ChaosSpec, endpoint: Endpoint, log: GaugeLog) -> None:
        self.spec, self.endpoint, self.log = spec, endpoint, log

    def watchers(self) -> Iterator[Coroutine[Any, Any, None]]:
        """One coroutine a source, which reads until it is cancelled; a source without readings has none."""
        yield self.engine()
        for name, read in self.targets():
            yield self.target(name, read)
        source = self.metrics.prometheus
        if source is not None:
            yield self.prometheus(source)
        where = why_elsewhere(self.endpoint)
        if where is None:
            yield self.host(HostReader(engine_pid(self.endpoint)))
        else:
            self.log.lack(HOST, where)

    @property
    def metrics(self) -> Metrics:
        """Where the spec has gauges read from."""
        return self.spec.spec.metrics

    async def engine(self) -> None:
        """Each second the engine's own numbers."""
        async with aiohttp.ClientSession() as session:

            async def read() -> None:
                reading = await read_gauges(session, f"{self.endpoint.upstream}/metrics")
                if reading.reason is not None:
                    self.log.lack(ENGINE, reading.reason)
                self.log.add(reading.values)

            await self.repeat(EVERY, read)

    def targets(self) -> list[tuple[str, Callable[[], Values]]]:
        """What reads the target of each fault of the cluster, by what it reads; nothing of a run that is on none."""
        if self.endpoint.namespace is None:
            return []
        from chaosgate.components import on_cluster

        watches = on_cluster.watches(self.spec, self.endpoint)
        return [(f"k8s:{watch.fault.name}:*", watch.read) for watch in watches]

    async def target(self, name: str, read: Callable[[], Values]) -> None:
        """Each second what the API server says of a fault's target."""

        async def ask() -> None:
            try:
                self.log.add(await asyncio.to_thread(read))
            except ClusterError as error:
                self.log.lack(name, str(error))

        await self.repeat(EVERY, ask)

    async def prometheus(self, source: PrometheusSource) -> None:
        """Each of the spec's queries, as often as it says, put where its sample was scraped on the run's clock."""
        async with aiohttp.ClientSession() as session:
            client, scraped = PrometheusClient(session, source), dict[str, float]()

            async def ask_all() -> None:
                try:
                    for query in source.queries:
                        await self.ask(client, source, query, scraped)
                except GaugeError as error:
                    self.log.lack(PROMETHEUS, str(error))

            await self.repeat(source.every, ask_all)

    async def ask(
        self, client: PrometheusClient, source: PrometheusSource, query: PromQuery, scraped: dict[str, float]
    ) -> None:
        """One query; `scraped` holds by name when, on the server's clock, the sample of the last answer was scraped."""
        name, begun = prometheus_gauge(query.name), self.log.clock.now()
        answer = await client.ask(query.query)
        if answer.reason is not None:
            self.log.lack(name, answer.reason)
        # A server that scrapes more seldom than it is asked gives the same sample again.
        if answer.value is None or (answer.sampled is not None and scraped.get(name) == answer.sampled):
            return
        if answer.sampled is not None:
            scraped[name] = answer.sampled
        at = (begun + self.log.clock.now()) / 2 - answer.age
        self.log.add({name: answer.value}, at, source.stale + source.every)

    async def host(self, reader: HostReader) -> None:
        """Each second the machine under the engine."""

        async def read() -> None:
            reading = await asyncio.to_thread(reader.read)
            for name, reason in reading.missing.items():
                self.log.lack(name, reason)
            self.log.add(reading.values)

        await self.repeat(EVERY, read)

    async def repeat(self, every: float, read: Callable[[], Awaitable[None]]) -> None:
        """`read` every so many seconds, until cancelled."""
        clock = self.log.clock
        while True:
            begun = clock.now()
            await read()
            await asyncio.sleep(max(0.0, begun + every - clock.now()))


def engine_pid(endpoint: Endpoint) -> int:
    """The process id of the engine that the run started."""
    return next(process.pid for process in endpoint.processes if process.role == "engine")


def why_elsewhere(endpoint: Endpoint) -> str | None:
    """Why this machine says nothing of the target; None where the run started the engine here."""
    if endpoint.namespace is not None:
        return "the target's pods run on machines of the cluster; ask a Prometheus for these: spec.metrics.prometheus"
    if not any(process.role == "engine" for process in endpoint.processes):
        return (
            f"the run did not start the server at {endpoint.upstream}, so that its machine is not known; ask a "
            "Prometheus for it: spec.metrics.prometheus"
        )
    return None
