"""Several processes send one load: its schedule and dispersion, its numbers, its end, whoever dies of them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from aiohttp import web
from observed_load import ObservedLoad, until_true
from scipy import stats
from scripted_chat import ANSWER, OPENING, Crowd, Serve, streaming

from chaosgate.errors import ArtifactError, LoadError, UsageError
from chaosgate.loadgen import workers
from chaosgate.loadgen.arrivals import schedule
from chaosgate.loadgen.generator import LoadGenerator, LoadSettings
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.loadgen.workers import open_load
from chaosgate.model.observation import Observation
from chaosgate.model.workload import Workload

pytestmark = pytest.mark.slow

POISSON = {"process": "poisson", "rate": "150/s"}
CLOSED = {"process": "closed", "concurrency": 5}


def settings(url: str, arrivals: dict[str, Any], count: int = 2, seconds: float = 1.0, **more: Any) -> LoadSettings:
    load = {"arrivals": arrivals, "prompts": {"set": "recall-24"}, "workers": count, "seed": 7, **more}
    return LoadSettings(url, "tiny", Workload.model_validate(load), "block1", seconds, 0.1, 5.0)


def workers_of(parent: int) -> list[psutil.Process]:
    try:
        children = psutil.Process(parent).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [child for child in children if "chaosgate.loadgen.worker" in " ".join(child.cmdline())]


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    assert workers_of(os.getpid()) == []


def test_one_worker_is_this_process() -> None:
    given = settings("http://127.0.0.1:9", POISSON, count=1)
    assert isinstance(open_load(given, lambda seen: None, PhaseClock()), LoadGenerator)


@pytest.mark.thorough
async def test_the_merged_load_is_the_planned_one_and_as_dispersed_as_it_says(serve: Serve) -> None:
    """What the server sees of three processes is one Poisson process: its counts, its gaps, its very times."""
    arrived: list[float] = []
    loop = asyncio.get_running_loop()

    async def handle(request: web.Request) -> web.StreamResponse:
        arrived.append(loop.time())
        return await streaming(ANSWER)(request)

    run = ObservedLoad(settings(await serve(handle), POISSON, count=3, seconds=6.0))
    observations = await run.run()
    planned = [due.at for due in schedule(run.settings.workload, 6.0, "block1")]
    assert sorted(seen.scheduled for seen in observations) == planned
    assert run.numbers == list(range(len(planned)))
    assert {seen.outcome for seen in observations} == {"ok"}
    assert {seen.warmup for seen in observations if seen.scheduled < 0.1} == {True}
    for times in (arrived, [seen.sent for seen in observations]):
        counts = np.histogram(times, bins=np.linspace(min(times), max(times), 121))[0]
        low, high = stats.chi2.ppf([0.001, 0.999], 119) / 119
        assert low < counts.var(ddof=1) / counts.mean() < high
    # Each of the three sends a third and is evener than Poisson by itself: it takes all of them together.
    third = np.diff(sorted(seen.sent for seen in observations if int(seen.request.split(".")[2]) % 3 == 0))
    assert third.std() / third.mean() < 0.75


async def test_a_closed_loop_of_several_processes_has_no_gap_in_its_numbers(serve: Serve) -> None:
    crowd = Crowd(streaming(0.01, ANSWER))
    run = ObservedLoad(settings(await serve(crowd.handle), CLOSED, count=2))
    observations = await run.run()
    assert crowd.most == 5
    assert run.numbers == list(range(len(observations)))
    assert len(observations) > 50


async def test_observations_come_while_the_load_runs_and_what_is_in_flight_can_be_seen(serve: Serve) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        number = int(request.headers["X-Chaosgate-Request"].split(".")[2])
        return await streaming(OPENING, *((60.0,) if number < 4 else (ANSWER,)))(request)

    run = ObservedLoad(settings(await serve(handle), {"process": "constant", "rate": "20/s"}, seconds=600.0))
    running = asyncio.create_task(run.run())
    held = [f"7.block1.{number}" for number in range(4)]
    await until_true(lambda: len(run.observations) > 10 and set(held) <= {o.request for o in run.sender.pending()})
    pending = run.sender.pending()
    assert [one.request for one in pending[:4]] == held
    assert len(pending) == run.sender.in_flight
    assert [one.scheduled for one in pending] == sorted(one.scheduled for one in pending)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert run.numbers == list(range(len(run.observations)))
    assert {seen.outcome for seen in run.observations if int(seen.request.split(".")[2]) < 4} == {"timeout"}
    assert run.sender.pending() == []


async def test_until_ends_the_sending_of_all_and_their_answers_are_awaited(serve: Serve) -> None:
    run = ObservedLoad(settings(await serve(streaming(0.2, ANSWER)), POISSON, seconds=600.0))
    running = asyncio.create_task(run.run())
    await until_true(lambda: len(run.observations) > 20)
    run.until.set()
    observations = await running
    assert {seen.outcome for seen in observations} == {"ok"}
    # Both stop within the time that a line takes, so that at most the last few numbers have gaps between them.
    assert len(set(run.numbers)) == len(observations)


async def test_a_worker_that_dies_ends_the_load_with_an_error_that_names_it(serve: Serve) -> None:
    run = ObservedLoad(settings(await serve(streaming(ANSWER)), POISSON, seconds=600.0))
    running = asyncio.create_task(run.run())
    await until_true(lambda: len(run.observations) > 5)
    workers_of(os.getpid())[0].kill()
    with pytest.raises(LoadError, match=r"load process [12] of 2 ended with code -9 before its part was sent, and its"):
        await running


async def test_a_failing_observer_ends_every_process(serve: Serve) -> None:
    def full(seen: Observation) -> None:
        raise ArtifactError("the disk is full")

    load = open_load(settings(await serve(streaming(ANSWER)), POISSON, seconds=600.0), full, PhaseClock())
    with pytest.raises(ArtifactError, match="the disk is full"):
        await load.run(asyncio.Event())


def test_what_is_wrong_with_the_workload_is_said_before_a_process_starts() -> None:
    wrong = settings("http://127.0.0.1:9", POISSON, prompts={"set": "recal-24"})
    with pytest.raises(UsageError, match="did you mean 'recall-24'"):
        open_load(wrong, lambda seen: None, PhaseClock())


async def test_processes_that_do_not_start_in_time_are_said_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "READY_WAIT", 0.01)
    load = open_load(settings("http://127.0.0.1:9", POISSON), lambda seen: None, PhaseClock())
    with pytest.raises(LoadError, match=r"2 load processes were not ready within 0.01 s; use fewer workers"):
        await load.prepare()


PARENT = """
import asyncio, sys
from chaosgate.loadgen.generator import LoadSettings
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.loadgen.workers import open_load
from chaosgate.model.workload import Workload

workload = Workload.model_validate_json(sys.argv[2])
settings = LoadSettings(sys.argv[1], "tiny", workload, "block1", 600.0, 0.0, 5.0)

async def main():
    load = open_load(settings, lambda seen: print(seen.outcome, flush=True), PhaseClock())
    try:
        await load.run(asyncio.Event())
    finally:
        print("over", flush=True)

try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.fixture
def start_parent(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts a process that sends a load by two others, in a process group of its own as a terminal gives it."""
    started: list[subprocess.Popen[bytes]] = []

    def start(url: str) -> subprocess.Popen[bytes]:
        load = {"arrivals": CLOSED, "prompts": {"set": "recall-24"}, "workers": 2}
        argv = [sys.executable, "-c", PARENT, url, json.dumps(load)]
        with (tmp_path / "parent.log").open("wb") as log:
            started.append(subprocess.Popen(argv, stdout=log, stderr=log, process_group=0, cwd=tmp_path))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()


async def test_ctrl_c_ends_parent_and_workers_and_every_request_is_observed(
    serve: Serve, start_parent: Callable[[str], subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    arrived = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal arrived
        arrived += 1
        return await streaming(OPENING, 600.0)(request)

    parent = start_parent(await serve(handle))
    await until_true(lambda: arrived == 5)
    children = workers_of(parent.pid)
    assert len(children) == 2
    os.killpg(parent.pid, signal.SIGINT)
    await until_true(lambda: parent.poll() is not None)
    said = (tmp_path / "parent.log").read_text().split()
    assert said == ["timeout"] * 5 + ["over", "interrupted"]
    await until_true(lambda: not any(child.is_running() for child in children))


@pytest.mark.thorough
async def test_workers_end_when_their_parent_is_killed(
    serve: Serve, start_parent: Callable[[str], subprocess.Popen[bytes]]
) -> None:
    arrived = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        arrived.set()
        return await streaming(0.01, ANSWER)(request)

    parent = start_parent(await serve(handle))
    await arrived.wait()
    children = workers_of(parent.pid)
    assert len(children) == 2
    parent.kill()
    await until_true(lambda: not any(child.is_running() for child in children))
