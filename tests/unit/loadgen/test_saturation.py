"""A sweep rises until the target no longer holds, says why, and never takes its own client's lag for that."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from scripted_chat import ANSWER, Serve, seen, streaming

from chaosgate.errors import UsageError
from chaosgate.loadgen.generator import LoadSettings
from chaosgate.loadgen.saturation import (
    MIN_REQUESTS,
    StepResult,
    Sweep,
    at_rate,
    highest_held,
    judge_step,
    run_sweep,
    trimmed_rate,
)
from chaosgate.model.observation import Observation
from chaosgate.model.workload import Workload

SWEEP = Sweep(start=20, factor=2, hold=10)


def settings(url: str = "http://127.0.0.1:9", **more: Any) -> LoadSettings:
    load = {"arrivals": {"process": "closed", "concurrency": 3}, "prompts": {"set": "recall-24"}, "seed": 7, **more}
    return LoadSettings(url, "tiny", Workload.model_validate(load), "baseline", 60.0, 5.0, 5.0)


def answered(
    rate: float, capacity: float, latency: float = 0.5, late: float = 0.0, seconds: float = 10.0
) -> list[Observation]:
    """A step of equal gaps at a server of one queue that answers `capacity` requests a second."""
    free, found = 0.0, []
    for number in range(int(rate * seconds)):
        due = number / rate
        free = max(free, due + late) + 1 / capacity
        found.append(seen(free + latency).model_copy(update={"scheduled": due, "sent": due + late}))
    return found


@pytest.mark.parametrize("latency", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("rate", [20.0, 49.0])
def test_a_target_that_keeps_up_holds_however_long_an_answer_takes(rate: float, latency: float) -> None:
    step = judge_step(rate, answered(rate, 50.0, latency), SWEEP)
    assert step.end == "held", step.why
    assert step.requested == pytest.approx(rate)
    assert step.achieved == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize("rate", [60.0, 100.0, 500.0])
def test_a_target_that_does_not_is_saturated_at_its_capacity(rate: float) -> None:
    step = judge_step(rate, answered(rate, 50.0), SWEEP)
    assert step.end == "saturated"
    assert step.achieved == pytest.approx(50.0, rel=0.01)
    assert step.why.endswith("of the requested rate; below 95% requests pile up")


def test_one_straggler_makes_no_saturation() -> None:
    step = answered(20.0, 50.0)
    late = step[50].model_copy(update={"end": 500.0})
    assert judge_step(20.0, [*step[:50], late, *step[51:]], SWEEP).end == "held"


def test_a_client_that_lags_voids_the_step_and_says_nothing_of_the_target() -> None:
    step = judge_step(100.0, answered(100.0, 50.0, late=0.06), SWEEP)
    assert step.end == "client"
    assert step.why == (
        "the client sent late, by 60ms at the 99th percentile: this says nothing of the target; use more workers or "
        "another machine"
    )
    assert judge_step(20.0, answered(20.0, 50.0, late=0.04), SWEEP).end == "held"


def test_failures_end_it_where_there_are_more_than_allowed() -> None:
    step = answered(20.0, 50.0)
    failed = [one.model_copy(update={"outcome": "error"}) for one in step[:3]]
    assert judge_step(20.0, [*failed[:2], *step[2:]], SWEEP).end == "held"
    broken = judge_step(20.0, [*failed, *step[3:]], SWEEP)
    assert (broken.end, broken.why) == ("errors", "1.5 % of the requests failed; 1 % are allowed")


def test_requests_that_the_client_gave_up_are_neither_answered_nor_failed() -> None:
    step = answered(20.0, 50.0)
    given_up = [one.model_copy(update={"outcome": "cancelled"}) for one in step[::4]]
    kept = [one for at, one in enumerate(step) if at % 4]
    judged = judge_step(20.0, [*given_up, *kept], SWEEP)
    assert (judged.end, judged.errors) == ("held", 0.0)


def test_an_slo_of_the_callers_own_ends_it() -> None:
    def slow(observations: Sequence[Observation]) -> str | None:
        return f"ttft-p95 of {len(observations)} requests is 900ms; <= 500ms is wanted"

    step = judge_step(20.0, answered(20.0, 50.0), SWEEP, slow)
    assert (step.end, step.why) == ("slo", "ttft-p95 of 200 requests is 900ms; <= 500ms is wanted")


def test_nothing_answered_is_no_rate() -> None:
    assert judge_step(20.0, [], SWEEP).end == "errors"
    assert judge_step(20.0, answered(20.0, 50.0)[: MIN_REQUESTS - 1], SWEEP).end == "saturated"


@given(st.floats(1, 1000), st.floats(0, 1e4), st.integers(MIN_REQUESTS, 400))
def test_a_rate_is_that_of_its_events_wherever_they_lie(rate: float, start: float, count: int) -> None:
    times = [start + number / rate for number in range(count)]
    assert trimmed_rate(times) == pytest.approx(rate, rel=1e-3)
    assert trimmed_rate(times[: MIN_REQUESTS - 1]) is None
    assert trimmed_rate([start] * count) is None


def test_steps_rise_by_a_factor_or_by_a_step_and_end_at_what_a_client_may_send() -> None:
    assert list(Sweep(start=10, factor=2, most=4).rates()) == [10, 20, 40, 80]
    assert list(Sweep(start=10, step=5, most=3).rates()) == [10, 15, 20]
    assert list(Sweep(start=3000, factor=2).rates()) == [3000, 6000]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"start": 20}, "a sweep rises by a factor or by a step; name one of the two"),
        ({"start": 20, "factor": 2, "step": 5}, "a sweep rises by a factor or by a step; name one of the two"),
        ({"start": 20, "factor": 1}, "a sweep rises; write a factor above 1, such as 1.5, or a step such as 10/s"),
        (
            {"start": 1, "step": 1, "hold": 10},
            "1/s for 10s are 10 requests; a step needs 20 or more: start higher, or hold longer",
        ),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        Sweep(**given)
    assert str(refused.value) == said


def test_steps_are_the_load_at_another_rate() -> None:
    spikes = {"rate": "5/s", "width": "1s", "every": "2s"}
    given = settings(arrivals={"process": "poisson", "rate": "1/s"}, spikes=spikes, workers=3, maxTokens=5)
    step = at_rate(given)(37.5, 2)
    assert (step.phase, step.warmup, step.workload.mean_rate(10.0)) == ("step2", 0.0, 37.5)
    assert (step.workload.spikes, step.workload.workers, step.workload.max_tokens) == (None, 3, 5)
    assert not step.workload.varies
    assert at_rate(given, "poisson")(1.0, 0).workload.varies


@pytest.mark.thorough
async def test_a_sweep_finds_the_capacity_of_a_real_server(serve: Serve) -> None:
    queue = asyncio.Semaphore(1)

    async def handle(request: web.Request) -> web.StreamResponse:
        async with queue:
            await asyncio.sleep(0.02)
        return await streaming(ANSWER)(request)

    told: list[StepResult] = []
    observed: list[Observation] = []
    found = await run_sweep(
        at_rate(settings(await serve(handle))),
        Sweep(start=10, factor=2, hold=2.0),
        asyncio.Event(),
        observed.append,
        told.append,
    )
    # 50/s at most, and a little less by what else a request costs.
    assert [step.rate for step in found] == [10, 20, 40, 80]
    assert (highest_held(found), found[-1].end) == (40, "saturated"), found
    assert told == list(found)
    assert len(observed) == sum(step.requests for step in found)
    assert {one.phase for one in observed} == {"step0", "step1", "step2", "step3"}


async def test_a_sweep_that_is_stopped_judges_nothing_of_its_last_step(serve: Serve) -> None:
    until = asyncio.Event()
    asyncio.get_running_loop().call_later(0.5, until.set)
    found = await run_sweep(at_rate(settings(await serve(streaming(ANSWER)))), SWEEP, until)
    assert (found[-1].end, highest_held(found)) == ("stopped", None)


async def test_a_target_that_refuses_ends_the_sweep_in_its_first_step() -> None:
    found = await run_sweep(at_rate(settings()), Sweep(start=20, step=10, hold=1.0), asyncio.Event())
    assert (found[-1].end, highest_held(found), len(found)) == ("errors", None, 1)
