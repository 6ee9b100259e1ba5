"""The open loop: on time whatever the server does, and exactly one observation for each request that was due."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from typing import Any

import pytest
from aiohttp import web
from observed_load import ObservedLoad
from scripted_chat import ANSWER, BLUE, DONE, OPENING, STOP, Serve, event, streaming, token, workload

from chaosgate.errors import ArtifactError, UsageError
from chaosgate.loadgen.arrivals import scheduled_times
from chaosgate.loadgen.generator import LoadGenerator, LoadSettings
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.model.observation import Observation
from chaosgate.prompts.sets import prompt_set, prompt_sets


class Load(ObservedLoad):
    """A phase of half a second, a tenth of a second of it warm-up."""

    def __init__(self, url: str, **changes: Any) -> None:
        given = {"seconds": 0.5, "warmup": 0.1, "drain": 5.0, "workload": workload(), **changes}
        super().__init__(LoadSettings(url=url, model="tiny", phase="block1", **given))


async def test_every_request_that_was_due_is_observed_once(serve: Serve) -> None:
    load = Load(await serve(streaming(ANSWER)))
    observations = await load.run()
    assert load.numbers == list(range(50))
    assert {seen.outcome for seen in observations} == {"ok"}
    assert load.sender.in_flight == 0


async def test_what_is_in_flight_can_be_looked_at(serve: Serve) -> None:
    load = Load(await serve(streaming(OPENING + BLUE, 60.0)), seconds=0.2, drain=0.2)
    running = asyncio.create_task(load.run())
    while True:
        await asyncio.sleep(0.01)
        if begun := [each for each in load.sender.pending() if each.first is not None]:
            break
    assert (begun[0].request, begun[0].scheduled, begun[0].warmup) == ("7.block1.0", 0.0, True)
    await running
    assert load.sender.pending() == []


async def test_requests_carry_number_prompt_schedule_and_warmup(serve: Serve) -> None:
    load = Load(await serve(streaming(ANSWER)), workload=workload(process="poisson"))
    observations = sorted(await load.run(), key=lambda seen: seen.scheduled)
    assert [seen.scheduled for seen in observations] == list(scheduled_times("poisson", 100, 0.5, 7, "block1"))
    for number, seen in enumerate(observations):
        assert (seen.request, seen.phase) == (f"7.block1.{number}", "block1")
        assert seen.prompt == f"recall-24/{number % 24}"
        assert seen.warmup == (seen.scheduled < 0.1)
        assert seen.sent >= seen.scheduled


@pytest.mark.thorough
@pytest.mark.parametrize("name", prompt_sets())
async def test_every_prompt_of_a_set_is_sent_and_its_known_answer_is_right(serve: Serve, name: str) -> None:
    prompts = prompt_set(name).prompts
    known = {(repr(one.messages()), one.tenant): one.answer for one in prompts}
    asked = Counter[tuple[str, str | None]]()

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        key = repr(body["messages"]), body.get("user")
        asked[key] += 1
        return await streaming(event(token(known[key])), STOP, DONE)(request)

    load = Load(await serve(handle), workload=workload(rate="200/s", prompts=name))
    observations = await load.run()
    assert {(seen.outcome, seen.answer) for seen in observations} == {("ok", "right")}
    assert asked.keys() == known.keys()
    assert sum(asked.values()) == len(observations) == 100


async def test_the_loop_never_waits_for_answers(serve: Serve) -> None:
    """Twenty requests are due while the first is still unanswered; a closed loop would have sent one."""
    waiting, released = 0, asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal waiting
        waiting += 1
        if waiting == 20:
            released.set()
        await released.wait()
        return await streaming(ANSWER)(request)

    load = Load(await serve(handle), seconds=0.2)
    assert {seen.outcome for seen in await load.run()} == {"ok"}
    assert waiting == 20


async def test_a_stalled_server_shows_in_the_latency_and_not_in_the_schedule(serve: Serve) -> None:
    load = Load(await serve(streaming(0.4, ANSWER)), seconds=0.2)
    for seen in await load.run():
        assert seen.first is not None
        assert seen.first - seen.scheduled >= 0.4
        assert seen.sent < seen.first - 0.3


async def test_a_client_that_lags_says_so(serve: Serve) -> None:
    """The loop stands still for 0.2 s: requests due meanwhile go out late, none is lost, and `sent` tells it."""
    load = Load(await serve(streaming(ANSWER)))
    asyncio.get_running_loop().call_later(0.1, lambda: _stand_still(load.clock, 0.2))
    observations = await load.run()
    assert load.numbers == list(range(50))
    assert max(seen.sent - seen.scheduled for seen in observations) >= 0.15


def _stand_still(clock: PhaseClock, seconds: float) -> None:
    end = clock.now() + seconds
    while clock.now() < end:
        pass


async def test_the_phase_lasts_as_long_as_planned(serve: Serve) -> None:
    load = Load(await serve(streaming(ANSWER)), seconds=0.3, workload=workload(rate="5/s"))
    assert len(await load.run()) == 2
    assert load.clock.now() >= 0.3


async def test_until_ends_the_sending_and_outstanding_answers_are_awaited(serve: Serve) -> None:
    load = Load(await serve(streaming(0.3, ANSWER)), seconds=600.0)
    asyncio.get_running_loop().call_later(0.2, load.until.set)
    observations = await load.run()
    assert {seen.outcome for seen in observations} == {"ok"}
    assert load.numbers == list(range(len(observations)))
    assert observations


async def test_until_set_before_the_start_sends_nothing(serve: Serve) -> None:
    load = Load(await serve(streaming(ANSWER)), seconds=600.0)
    load.until.set()
    assert await load.run() == []


async def test_requests_outstanding_after_the_drain_are_timeouts(serve: Serve) -> None:
    load = Load(await serve(streaming(30.0)), seconds=0.2, drain=0.1)
    observations = await load.run()
    assert load.numbers == list(range(20))
    assert {seen.outcome for seen in observations} == {"timeout"}
    assert all(seen.end >= 0.3 for seen in observations)


async def test_without_a_drain_a_request_sent_at_the_last_moment_is_observed(serve: Serve) -> None:
    load = Load(await serve(streaming(30.0)), seconds=0.2, drain=0.0)
    await load.run()
    assert load.numbers == list(range(20))


async def test_cancelled_every_request_that_was_sent_is_still_observed(serve: Serve) -> None:
    arrived, enough = 0, asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal arrived
        arrived += 1
        if arrived == 10:
            enough.set()
        return await streaming(30.0)(request)

    load = Load(await serve(handle), seconds=600.0)
    task = asyncio.create_task(load.run())
    await enough.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert load.numbers == list(range(len(load.observations)))
    assert len(load.observations) >= 10
    assert {seen.outcome for seen in load.observations} == {"timeout"}


async def test_beyond_the_limit_requests_are_refused_and_not_sent_late(serve: Serve) -> None:
    asked: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        asked.append(request.headers["X-Chaosgate-Request"])
        return await streaming(30.0)(request)

    load = Load(await serve(handle), seconds=0.2, drain=0.1, max_in_flight=5)
    observations = await load.run()
    assert load.numbers == list(range(20))
    refused = [seen for seen in observations if seen.outcome == "refused"]
    assert len(refused) == 15
    assert {seen.status for seen in refused} == {None}
    assert len(asked) <= 5


async def test_a_failing_observer_ends_the_load_and_is_not_hidden(serve: Serve) -> None:
    load = Load(await serve(streaming(ANSWER)), seconds=600.0)

    def full(seen: Observation) -> None:
        raise ArtifactError("the disk is full")

    load.sender = LoadGenerator(load.settings, full, load.clock)
    with pytest.raises(ArtifactError, match="the disk is full"):
        await load.run()


async def test_the_garbage_collector_is_as_before_afterwards(serve: Serve) -> None:
    before = gc.get_freeze_count()
    await Load(await serve(streaming(ANSWER)), seconds=0.05).run()
    assert gc.get_freeze_count() <= before


def test_an_unknown_prompt_set_and_a_wrong_address_are_refused() -> None:
    wrong = workload().model_copy(update={"prompts": workload().prompts.model_copy(update={"set": "recal-24"})})
    with pytest.raises(UsageError, match="did you mean 'recall-24'"):
        Load("http://127.0.0.1:1", workload=wrong)
    with pytest.raises(UsageError, match=r"read the address '127.0.0.1:80'; write a URL such as http://127.0.0.1:8080"):
        Load("127.0.0.1:80")
