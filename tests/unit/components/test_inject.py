"""inject before its first window: what makes it decline."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from simulated_run import Conditions, simulate, stream_spec
from small_drill import write_spec

from chaosgate.components import inject
from chaosgate.components.definition import Context
from chaosgate.deploy.processes import here, register
from chaosgate.model.load import load_spec
from chaosgate.model.result import Endpoint, Process, SecretRef, Subject


def endpoint(*processes: Process) -> Endpoint:
    subject = Subject(model="m", engine="e")
    return Endpoint(url="u", admin="a", token=SecretRef(file="t"), upstream="s", subject=subject, processes=processes)


def test_nothing_is_injected_without_a_sweeper_that_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inject, "why_unsteady", lambda context, spec: None)
    spec, context = load_spec(write_spec(tmp_path)), Context("r", tmp_path, {}, {}, {})
    alive = register(tmp_path, "sweeper", os.getpid())
    gone = Process(role="sweeper", pid=os.getpid(), created=alive.created - 1, place=here())
    engine = alive.model_copy(update={"role": "engine"})
    said = "the sweeper is gone; nothing is injected without it"
    assert inject.why_not(context, spec, endpoint()) == said
    assert inject.why_not(context, spec, endpoint(engine, gone)) == said
    assert inject.why_not(context, spec, endpoint(engine, alive)) is None


def test_nothing_is_injected_into_a_system_that_is_not_steady(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inject, "why_unsteady", lambda context, spec: "too slow")
    spec, context = load_spec(write_spec(tmp_path)), Context("r", tmp_path, {}, {}, {})
    guarded = endpoint(register(tmp_path, "sweeper", os.getpid()))
    assert inject.why_not(context, spec, guarded) == "too slow"


@pytest.mark.parametrize("wrong_until", [0.0, 24.0])
def test_answers_that_did_not_become_steady_keep_everything_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong_until: float
) -> None:
    asked = {"scorer": "exact-match", "every": "1s", "window": 4, "inARow": 3, "within": "20s"}
    found = simulate(stream_spec(semantic=asked), Conditions(wrong_until=wrong_until))
    monkeypatch.setattr(inject, "read_phase", lambda phase, inputs, identity: found.phases[phase])
    reason = inject.why_unsteady(Context("r", tmp_path, {}, {}, {}), found.spec)
    if wrong_until == 0.0:
        assert reason is None
    else:
        assert reason is not None
        assert "the answers did not become steady within 20s" in reason
