"""When a phase's load ends: inject is done, inject is dead, or a watcher has failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_drill import write_spec

from chaosgate.components.measure import Phase, ends_load
from chaosgate.errors import GatewayError
from chaosgate.model.load import load_spec
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.result import Endpoint, SecretRef, Subject


@pytest.mark.parametrize(
    ("event", "ends"),
    [
        (TimelineEvent(at=1.0, event="injected"), True),
        (TimelineEvent(at=1.0, event="off", detail={"why": "expired"}), True),
        (TimelineEvent(at=1.0, event="off", detail={"why": "removed"}), False),
        (TimelineEvent(at=1.0, event="off", detail={"why": "halted"}), False),
        (TimelineEvent(at=1.0, event="on"), False),
        (TimelineEvent(at=1.0, event="halt"), False),
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


def test_only_the_baseline_warms_up(phase: Phase) -> None:
    assert phase.warmup == 0.0
    phase.name = "baseline"
    assert phase.warmup == pytest.approx(0.2)
