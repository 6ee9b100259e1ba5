"""When a phase's load ends: inject is done or dead, the run was halted, or a watcher has failed."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from small_drill import write_spec

from chaosgate.components import measure
from chaosgate.components.measure import Phase, ends_load
from chaosgate.components.progress import heard
from chaosgate.errors import GatewayError
from chaosgate.inject.http import GatewayAdmin
from chaosgate.loadgen.gauges import GaugeReading
from chaosgate.loadgen.trace import PhaseClock
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


async def test_gauges_that_cannot_be_read_are_noted_once(
    phase: Phase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readings = iter([GaugeReading({}, "it is away"), GaugeReading({"a": 1.0}), GaugeReading({}, "it is away")])

    async def read(session: object, url: str) -> GaugeReading:
        try:
            return next(readings)
        except StopIteration:
            raise GatewayError("the test is over") from None

    monkeypatch.setattr(measure, "read_gauges", read)
    monkeypatch.setattr(measure, "GAUGES_EVERY", 0.0)
    with pytest.raises(GatewayError, match="the test is over"):
        await phase.watch_gauges(PhaseClock(), 0.0)
    assert [gauge.value for gauge in phase.gauges] == [1.0]
    assert [heard(line) for line in capsys.readouterr().out.splitlines()] == [
        {"event": "note", "phase": "block1", "text": "no gauges of the engine: it is away"}
    ]


def test_only_the_baseline_warms_up(phase: Phase) -> None:
    assert phase.warmup == 0.0
    phase.name = "baseline"
    assert phase.warmup == pytest.approx(0.2)
