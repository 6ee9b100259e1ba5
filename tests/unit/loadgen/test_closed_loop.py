"""A closed loop keeps its slots full and no fuller, and a client that gives requests up closes their connections."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from aiohttp import web
from observed_load import ObservedLoad, until_true
from scipy import stats
from scripted_chat import ANSWER, BLUE, DONE, OPENING, STOP, Crowd, Serve, streaming

from chaosgate.draws import uniform
from chaosgate.errors import ArtifactError, UsageError
from chaosgate.loadgen.calls import WHOLE, Calls
from chaosgate.loadgen.generator import LoadGenerator, LoadSettings
from chaosgate.model.observation import Observation
from chaosgate.model.workload import Workload

CLOSED = {"process": "closed", "concurrency": 4}
OPEN = {"process": "constant", "rate": "100/s"}


def workload(arrivals: dict[str, Any], **more: Any) -> Workload:
    return Workload.model_validate({"arrivals": arrivals, "prompts": {"set": "recall-24"}, "seed": 7, **more})


class Load(ObservedLoad):
    """A phase of half a second."""

    def __init__(self, url: str, load: Workload, **changes: Any) -> None:
        given = {"seconds": 0.5, "warmup": 0.0, "drain": 5.0, **changes}
        super().__init__(LoadSettings(url=url, model="tiny", workload=load, phase="block1", **given))


async def test_as_many_requests_are_in_flight_as_there_are_slots(serve: Serve) -> None:
    crowd = Crowd(streaming(0.02, ANSWER))
    load = Load(await serve(crowd.handle), workload(CLOSED))
    observations = await load.run()
    assert crowd.most == 4
    assert load.numbers == list(range(len(observations)))
    assert {seen.outcome for seen in observations} == {"ok"}
    assert len(observations) > 20
    by_number = {seen.request: seen.prompt for seen in observations}
    assert all(by_number[f"7.block1.{at}"] == f"recall-24/{at % 24}" for at in load.numbers)


async def test_a_request_is_due_when_its_slot_falls_free(serve: Serve) -> None:
    load = Load(await serve(streaming(0.05, ANSWER)), workload({**CLOSED, "concurrency": 1}))
    observations = await load.run()
    for earlier, later in pairwise(observations):
        assert later.scheduled >= earlier.end
        assert later.scheduled - earlier.end < 0.05
        assert later.sent >= later.scheduled


async def test_a_stall_of_the_server_holds_a_closed_loop_up(serve: Serve) -> None:
    """What its latencies hide, coordinated omission: four requests see the stall, where an open loop has fifty."""

    async def handle(request: web.Request) -> web.StreamResponse:
        return await streaming(0.5, ANSWER)(request)

    load = Load(await serve(handle), workload(CLOSED), seconds=0.4)
    assert len(await load.run()) == 4


async def test_nothing_is_due_after_the_end_and_answers_are_awaited(serve: Serve) -> None:
    load = Load(await serve(streaming(0.2, ANSWER)), workload(CLOSED), seconds=0.3)
    observations = await load.run()
    assert all(seen.scheduled < 0.3 for seen in observations)
    assert {seen.outcome for seen in observations} == {"ok"}
    assert load.clock.now() >= 0.3


async def test_until_ends_a_closed_loop(serve: Serve) -> None:
    load = Load(await serve(streaming(0.01, ANSWER)), workload(CLOSED), seconds=600.0)
    asyncio.get_running_loop().call_later(0.2, load.until.set)
    observations = await load.run()
    assert load.numbers == list(range(len(observations)))
    assert {seen.outcome for seen in observations} == {"ok"}


async def test_cancelled_a_closed_loop_observes_what_is_in_flight(serve: Serve) -> None:
    load = Load(await serve(streaming(OPENING, 60.0)), workload(CLOSED), seconds=600.0)
    task = asyncio.create_task(load.run())
    await until_true(lambda: load.sender.in_flight == 4)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert load.numbers == [0, 1, 2, 3]
    assert {seen.outcome for seen in load.observations} == {"timeout"}


async def test_a_failing_observer_ends_a_closed_loop(serve: Serve) -> None:
    load = Load(await serve(streaming(ANSWER)), workload(CLOSED), seconds=600.0)

    def full(seen: Observation) -> None:
        raise ArtifactError("the disk is full")

    load.sender = LoadGenerator(load.settings, full, load.clock)
    with pytest.raises(ArtifactError, match="the disk is full"):
        await load.run()


async def test_refused_connections_neither_end_nor_stop_the_loop() -> None:
    load = Load("http://127.0.0.1:9", workload(CLOSED), seconds=0.2)
    observations = await load.run()
    assert {seen.outcome for seen in observations} == {"refused"}
    assert load.numbers == list(range(len(observations)))
    assert load.clock.now() < 5


def test_more_slots_than_may_be_in_flight_are_refused() -> None:
    with pytest.raises(UsageError, match="read a concurrency of 4; at most 3 requests may be in flight"):
        Load("http://127.0.0.1:9", workload(CLOSED), max_in_flight=3)


CANCEL = {"share": "30 %", "after": "100ms"}


def test_the_share_that_is_given_up_is_a_draw_for_each_request() -> None:
    calls = list(Calls(workload(OPEN, cancel=CANCEL), "block1", 0.0).due(40.0, WHOLE))
    given_up = [call.cancel_after is not None for call in calls]
    assert given_up == [uniform(7, "cancel", call.request) < 0.3 for call in calls]
    assert stats.binomtest(sum(given_up), len(given_up), 0.3).pvalue > 0.01
    assert {call.cancel_after for call in calls} == {None, 0.1}


async def test_a_request_that_is_given_up_is_cancelled_at_its_time_and_its_connection_closed(serve: Serve) -> None:
    closed = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal closed
        try:
            return await streaming(OPENING + BLUE, 30.0)(request)
        except asyncio.CancelledError:
            # The test's server cancels the handler when its client has gone.
            closed += 1
            raise

    load = Load(await serve(handle), workload(OPEN, cancel={**CANCEL, "share": "100 %"}))
    observations = await load.run()
    assert load.numbers == list(range(50))
    assert {seen.outcome for seen in observations} == {"cancelled"}
    # On a busy machine some are given up late, or before their first token; the stream itself takes 30 s.
    assert all(0.09 <= seen.end - seen.sent < 5 for seen in observations)
    assert max(len(seen.tokens) for seen in observations) == 1
    await until_true(lambda: closed == 50)


async def test_an_answer_that_is_whole_before_is_not_cancelled(serve: Serve) -> None:
    load = Load(await serve(streaming(ANSWER)), workload(OPEN, cancel={**CANCEL, "share": "100 %"}))
    assert {seen.outcome for seen in await load.run()} == {"ok"}


@pytest.mark.thorough
async def test_an_answer_that_is_whole_and_whose_connection_stays_open_is_ok(serve: Serve) -> None:
    load = Load(await serve(streaming(OPENING + BLUE + STOP + DONE, 30.0)), workload(OPEN, cancel={**CANCEL}))
    observations = await load.run()
    given_up = [seen for seen in observations if uniform(7, "cancel", seen.request) < 0.3]
    assert given_up
    assert {seen.outcome for seen in given_up} == {"ok"}
    assert all(seen.end - seen.sent < 0.1 for seen in given_up)


async def test_requests_say_whose_they_are(serve: Serve) -> None:
    bodies: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        bodies.append(await request.json())
        return await streaming(ANSWER)(request)

    tenants = [
        {"name": "tenant-a", "arrivals": OPEN, "prompts": {"set": "two-tenant"}},
        {"name": "acme", "arrivals": {**OPEN, "rate": "50/s"}, "prompts": {"set": "recall-8"}},
        {
            "name": "made",
            "arrivals": {**OPEN, "rate": "50/s"},
            "prompts": {
                "lengths": {
                    "words": {"distribution": "fixed", "value": 5},
                    "maxTokens": {"distribution": "fixed", "value": 3},
                }
            },
        },
    ]
    load = Load(await serve(handle), Workload.model_validate({"tenants": tenants, "maxTokens": 8, "seed": 7}))
    observations = await load.run()
    assert Counter(seen.tenant for seen in observations) == {"tenant-a": 50, "acme": 25, "made": 25}
    asked = {(body["model"], body["user"], body["max_tokens"]) for body in bodies}
    assert asked == {("tiny:tenant-a", "tenant-a", 8), ("tiny", "acme", 8), ("tiny", "made", 3)}
    assert load.numbers == list(range(100))
