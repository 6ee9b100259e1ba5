"""The gauges of a phase: kept in the run's time, told once where they are missing, and fresh or not at all."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestServer
from aiohttp.web import Application
from fake_prometheus import FakePrometheus, Series
from small_drill import write_spec

from chaosgate.components import watching
from chaosgate.components.progress import heard
from chaosgate.components.watching import GaugeLog, GaugeWatch, engine_pid, why_elsewhere
from chaosgate.deploy.processes import register
from chaosgate.errors import GatewayError
from chaosgate.loadgen.gauges import GaugeReading
from chaosgate.loadgen.host import HostReader
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.model.gauges import Metrics, PrometheusSource
from chaosgate.model.load import load_spec
from chaosgate.model.result import Endpoint, Process, SecretRef, Subject

STARTED = 1000.0
"""When the phase began, on the gateway's clock."""


class Clock(PhaseClock):
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return self.at


class Over(GatewayError):
    """The test has seen enough."""


def endpoint(*processes: Process, namespace: str | None = None) -> Endpoint:
    subject = Subject(model="m", engine="e")
    token = SecretRef(file="f")
    return Endpoint(
        url="u", admin="a", token=token, upstream="http://s", subject=subject, processes=processes, namespace=namespace
    )


@pytest.fixture
def log() -> GaugeLog:
    return GaugeLog("block1", Clock(), STARTED)


@pytest.fixture
def watch(tmp_path: Path, log: GaugeLog) -> GaugeWatch:
    return GaugeWatch(load_spec(write_spec(tmp_path)), endpoint(), log)


def kept(log: GaugeLog) -> list[tuple[str, float | None, str | None]]:
    return [(one.name, one.value, one.reason) for one in log.readings]


def notes(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    told = [heard(line) for line in capsys.readouterr().out.splitlines()]
    return [one["text"] for one in told if one is not None and one["event"] == "note"]


def set_clock(log: GaugeLog, at: float) -> None:
    assert isinstance(log.clock, Clock)
    log.clock.at = at


def test_readings_stand_on_the_gateways_clock(log: GaugeLog) -> None:
    set_clock(log, 5.0)
    log.add({"a": 1.0})
    log.add({"b": 2.0}, at=3.0)
    assert [(one.at, one.name) for one in log.readings] == [(1005.0, "a"), (1003.0, "b")]


def test_a_reading_tells_of_the_present_for_a_while_only(log: GaugeLog) -> None:
    log.add({"a": 1.0, "b": 2.0})
    set_clock(log, 2.0)
    log.add({"a": 3.0})
    assert log.present() == {"a": 3.0, "b": 2.0}
    set_clock(log, 3.5)
    assert log.present() == {"a": 3.0}
    set_clock(log, 5.5)
    assert log.present() == {}


def test_what_is_missing_is_told_once_for_each_reason(log: GaugeLog, capsys: pytest.CaptureFixture[str]) -> None:
    for reason in ("away", "away", "slow", "away"):
        log.lack("gpu", reason)
    assert kept(log) == [("gpu", None, "away"), ("gpu", None, "slow")]
    assert notes(capsys) == ["no reading of gpu: away", "no reading of gpu: slow"]
    assert log.present() == {}


async def test_an_engine_that_cannot_be_read_leaves_a_gap(
    watch: GaugeWatch, log: GaugeLog, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacks = GaugeReading({"c": 3.0}, "it has no d")
    readings = iter([GaugeReading({}, "it is away"), GaugeReading({"a": 1.0}), GaugeReading({}, "it is away"), lacks])

    async def read(session: object, url: str) -> GaugeReading:
        assert url == "http://s/metrics"
        found = next(readings, None)
        if found is None:
            raise Over
        return found

    monkeypatch.setattr(watching, "read_gauges", read)
    monkeypatch.setattr(watching, "EVERY", 0.0)
    with pytest.raises(Over):
        await watch.engine()
    assert kept(log) == [
        ("vllm:*", None, "it is away"),
        ("a", 1.0, None),
        ("vllm:*", None, "it has no d"),
        ("c", 3.0, None),
    ]
    assert notes(capsys) == ["no reading of vllm:*: it is away", "no reading of vllm:*: it has no d"]


@pytest.fixture
async def fake() -> AsyncIterator[tuple[FakePrometheus, str]]:
    """A Prometheus whose clock is an hour ahead, and its address."""
    server = FakePrometheus(clock=lambda: 1_700_003_600.0)
    app = Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    running = TestServer(app, host="127.0.0.1")
    await running.start_server()
    yield server, str(running.make_url("/")).rstrip("/")
    await running.close()


def source(url: str, *queries: str, **more: object) -> PrometheusSource:
    named = [{"name": f"q{number}", "query": query} for number, query in enumerate(queries)]
    return PrometheusSource.model_validate({"url": url, "queries": named, **more})


async def ask_times(
    watch: GaugeWatch, wanted: PrometheusSource, times: int, monkeypatch: pytest.MonkeyPatch, change: Any = None
) -> None:
    """Ask so many rounds, two seconds apart on the phase's clock."""

    async def sleep(seconds: float) -> None:
        nonlocal times
        times -= 1
        set_clock(watch.log, watch.log.clock.now() + 2.0)
        if change is not None:
            change()
        if not times:
            raise Over

    monkeypatch.setattr(watching.asyncio, "sleep", sleep)
    with pytest.raises(Over):
        await watch.prometheus(wanted)


async def test_a_sample_stands_where_it_was_scraped_on_our_clock_and_once(
    watch: GaugeWatch, log: GaugeLog, fake: tuple[FakePrometheus, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, url = fake
    server.series["queue"] = [Series({}, 12.0, server.clock() - 1.5)]
    set_clock(log, 20.0)

    def scrape_again() -> None:
        if log.clock.now() == 24.0:
            server.series["queue"] = [Series({}, 14.0, server.clock() - 0.5)]

    await ask_times(watch, source(url, "queue"), 3, monkeypatch, scrape_again)
    assert [(one.at, one.name, one.value) for one in log.readings] == [
        (1018.5, "prom:q0", 12.0),
        (1023.5, "prom:q0", 14.0),
    ]


async def test_what_prometheus_computes_is_kept_each_time(
    watch: GaugeWatch, log: GaugeLog, fake: tuple[FakePrometheus, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, url = fake
    server.computed["sum(queue)"] = 3.0
    await ask_times(watch, source(url, "sum(queue)"), 2, monkeypatch)
    assert [(one.at, one.value) for one in log.readings] == [(1000.0, 3.0), (1002.0, 3.0)]
    assert log.present() == {"prom:q0": 3.0}


async def test_a_query_without_a_number_does_not_keep_the_others_from_being_read(
    watch: GaugeWatch,
    log: GaugeLog,
    fake: tuple[FakePrometheus, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server, url = fake
    server.computed["sum(queue)"] = 3.0
    await ask_times(watch, source(url, "nothing", "sum(queue)"), 2, monkeypatch)
    reason = "it gives no series: nothing by these names and labels was scraped of late"
    assert kept(log) == [("prom:q0", None, reason), ("prom:q1", 3.0, None), ("prom:q1", 3.0, None)]
    assert notes(capsys) == [f"no reading of prom:q0: {reason}"]


async def test_a_server_that_cannot_be_read_is_told_once_for_all_queries(
    watch: GaugeWatch,
    log: GaugeLog,
    fake: tuple[FakePrometheus, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server, url = fake
    server.token = "Bearer s3cret"
    await ask_times(watch, source(url, "a", "b"), 3, monkeypatch)
    (told,) = notes(capsys)
    assert told.startswith(f"no reading of prom:*: {url} refuses the credentials")
    assert [one.name for one in log.readings] == ["prom:*"]


async def test_the_machine_is_read_and_its_gaps_are_told(
    watch: GaugeWatch, log: GaugeLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gpus() -> dict[str, float]:
        raise OSError("no GPU")

    async def sleep(seconds: float) -> None:
        raise Over

    monkeypatch.setattr(watching.asyncio, "sleep", sleep)
    with pytest.raises(Over):
        await watch.host(HostReader(os.getpid(), proc=tmp_path, gpus=gpus))
    assert ("gpu", None, "no GPU") in kept(log)
    assert {name for name, value, _ in kept(log) if value is not None} == {
        "host:process:rss-bytes",
        "host:process:cpu-seconds",
        "host:process:threads",
    }


def test_only_an_engine_of_the_run_is_on_this_machine(tmp_path: Path) -> None:
    engine = register(tmp_path, "engine", os.getpid())
    sweeper = engine.model_copy(update={"role": "sweeper", "pid": 1})
    assert why_elsewhere(endpoint(sweeper, engine)) is None
    assert engine_pid(endpoint(sweeper, engine)) == os.getpid()
    elsewhere = why_elsewhere(endpoint(sweeper))
    assert elsewhere is not None
    assert elsewhere.startswith("the run did not start the server at http://s, so that its machine is not known")
    on_cluster = why_elsewhere(endpoint(engine, namespace="n"))
    assert on_cluster is not None
    assert on_cluster.startswith("the target's pods run on machines of the cluster")


def test_each_source_has_a_watcher_and_a_machine_elsewhere_is_told(
    watch: GaugeWatch, log: GaugeLog, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def names() -> list[str]:
        watchers = list(watch.watchers())
        for one in watchers:
            one.close()
        return [one.__name__ for one in watchers]

    assert names() == ["engine"]
    (told,) = notes(capsys)
    assert told.startswith("no reading of host:*: the run did not start the server")
    metrics = Metrics(prometheus=source("http://127.0.0.1:9", "up"))
    body = watch.spec.spec.model_copy(update={"metrics": metrics})
    watch.spec = watch.spec.model_copy(update={"spec": body})
    watch.endpoint = endpoint(register(tmp_path, "engine", os.getpid()))
    assert names() == ["engine", "prometheus", "host"]
