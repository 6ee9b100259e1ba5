"""When a phase's load ends: inject is done or dead, the run was halted, or a watcher has failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from small_drill import write_spec

from chaosgate.components.measure import BLIND_AFTER, Phase, ends_load
from chaosgate.components.watching import GaugeLog
from chaosgate.errors import GatewayError
from chaosgate.inject.http import GatewayAdmin
from chaosgate.loadgen.budgets import Spent
from chaosgate.loadgen.live import LiveSample
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.model.blocks import baseline_length, make_blocks
from chaosgate.model.load import load_spec
from chaosgate.model.observation import Observation, TimelineEvent
from chaosgate.model.result import Endpoint, SecretRef, Subject
from chaosgate.model.steady import SemanticSteadyState
from chaosgate.model.stopping import StopCondition


@pytest.mark.parametrize(
    ("event", "ends"),
    [
        (TimelineEvent(at=1.0, event="injected"), True),
        (TimelineEvent(at=1.0, event="off", detail={"why": "expired"}), True),
        (TimelineEvent(at=1.0, event="off", detail={"why": "removed"}), False),
        (TimelineEvent(at=1.0, event="off", detail={"why": "halted"}), False),
        (TimelineEvent(at=1.0, event="on"), False),
        (TimelineEvent(at=1.0, event="halt"), True),
    ],
)
def test_the_load_ends_when_no_more_injections_follow(event: TimelineEvent, ends: bool) -> None:
    assert ends_load(event) is ends


@pytest.fixture
def phase(tmp_path: Path) -> Phase:
    subject = Subject(model="m", engine="e")
    end = Endpoint(url="u", admin="a", token=SecretRef(file="f"), upstream="s", subject=subject)
    return Phase(load_spec(write_spec(tmp_path)), end, "block1", 10.0)


async def test_a_watcher_that_fails_ends_the_load_and_is_raised(phase: Phase) -> None:
    async def fails() -> None:
        raise GatewayError("the gateway is gone")

    with pytest.raises(GatewayError, match="the gateway is gone"):
        await phase.ending(fails())
    assert phase.over.is_set()


async def test_a_watcher_that_is_done_ends_nothing(phase: Phase) -> None:
    async def watches() -> None:
        return

    await phase.ending(watches())
    assert not phase.over.is_set()


class Timeline:
    """A gateway's admin interface that knows one timeline."""

    def __init__(self, *events: TimelineEvent) -> None:
        self.events = events

    async def timeline(self, phase: str) -> list[TimelineEvent]:
        return [event for event in self.events if event.phase == phase]


@pytest.mark.parametrize("name", ["baseline", "block1"])
async def test_a_halt_ends_the_load_of_the_phase_that_runs(phase: Phase, name: str) -> None:
    phase.name = name
    await phase.watch_timeline(cast(GatewayAdmin, Timeline(TimelineEvent(at=1.0, event="halt", phase=name))))
    assert phase.over.is_set()


def test_only_the_baseline_warms_up(phase: Phase) -> None:
    assert phase.warmup == 0.0
    phase.name = "baseline"
    assert phase.warmup == pytest.approx(0.2)


def test_answers_settle_after_the_warm_up(tmp_path: Path, phase: Phase) -> None:
    semantic = SemanticSteadyState.model_validate(
        {"scorer": "exact-match", "every": "1s", "window": 2, "inARow": 1, "within": "4s"}
    )
    steady = phase.spec.spec.steady_state.model_copy(update={"semantic": semantic})
    body = phase.spec.spec.model_copy(update={"steady_state": steady})
    phase.spec, phase.name = phase.spec.model_copy(update={"spec": body}), "baseline"
    assert phase.warmup == pytest.approx(4.2)
    assert baseline_length(phase.spec) == pytest.approx(5.4)


def test_a_phase_plans_what_is_due_after_its_warm_up(phase: Phase) -> None:
    (block,) = make_blocks(phase.spec)
    assert phase.planned == pytest.approx(40 * block.length)
    phase.name, phase.seconds = "baseline", 1.4
    assert phase.planned == pytest.approx(40 * 1.2)


async def test_a_block_goes_on_counting_the_tokens_of_the_baseline(phase: Phase) -> None:
    done = TimelineEvent(at=9.0, event="done", phase="baseline", detail={"tokens": 70, "promptTokens": 8})
    admin = cast(GatewayAdmin, Timeline(TimelineEvent(at=1.0, event="started", phase="baseline"), done))
    assert await phase.spent_before(admin) == Spent(70, 8)
    assert await phase.spent_before(cast(GatewayAdmin, Timeline())) == Spent()
    phase.name = "baseline"
    assert await phase.spent_before(admin) == Spent()


def watched(phase: Phase, *conditions: dict[str, Any]) -> GaugeLog:
    """The log of a phase with these stop conditions."""
    stop_when = tuple(StopCondition.model_validate(one) for one in conditions)
    safety = phase.spec.spec.safety.model_copy(update={"stop_when": stop_when})
    body = phase.spec.spec.model_copy(update={"safety": safety})
    phase.spec = phase.spec.model_copy(update={"spec": body})
    phase.gauges = GaugeLog("block1", PhaseClock(), 0.0)
    return phase.gauges


def told(log: GaugeLog) -> list[str]:
    return [f"{one.name}: {one.reason}" for one in log.readings]


def test_a_gauge_that_a_stop_condition_watches_and_nobody_reads_is_told(phase: Phase) -> None:
    log = watched(phase, {"gauge": "vllm:a", "bound": "> 1"}, {"gauge": "vllm:b", "bound": "> 1"})
    phase.tell_blind(LiveSample(BLIND_AFTER - 1, ()), {})
    assert told(log) == []
    for second in (BLIND_AFTER, BLIND_AFTER + 1):
        phase.tell_blind(LiveSample(second, ()), {"vllm:b": 0.0})
    assert told(log) == ["vllm:a: a stop condition watches it, and cannot hold while it is not read"]


def test_prompt_tokens_that_no_answer_tells_are_told(phase: Phase) -> None:
    log = watched(phase, {"promptTokens": 5})
    answer = observation()
    phase.tell_blind(LiveSample(BLIND_AFTER, (answer.model_copy(update={"prompt_tokens": 3}), answer)), {})
    phase.tell_blind(LiveSample(BLIND_AFTER, ()), {})
    assert told(log) == []
    phase.tell_blind(LiveSample(BLIND_AFTER, (answer,)), {})
    assert told(log) == ["promptTokens: a stop condition counts them, and the server's answers do not tell them"]


def observation() -> Observation:
    seen = {"scheduled": 0, "sent": 0, "first": 0.1, "tokens": [0.1], "end": 0.2, "status": 200, "outcome": "ok"}
    named = {"request": "7.block1.0", "phase": "block1", "prompt": "p/0", "answer": None, "text": "sha256:0"}
    return Observation.model_validate({**seen, **named})
