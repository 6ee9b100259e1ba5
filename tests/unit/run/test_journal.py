"""The journal of a run: what its steps told, small and whole, and never a reason to end the run."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from kept_run import KeptRun

from chaosgate.artifacts.files import write_whole
from chaosgate.errors import ArtifactError
from chaosgate.model.plan import Step
from chaosgate.run import journal as module
from chaosgate.run.journal import EVERY, FILE, Journal, StepEntry, read_journal

LOAD = {"event": "load", "phase": "block1", "elapsed": 4.0, "requests": 412, "ttft_p99": None, "error_rate": 0.01}
WINDOW = {"event": "window", "fault": "slow-wire", "dose": 0.1, "dimension": "duration", "window": 2, "of": 9}


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Kept:
    """A journal over the plan of the small drill, with a clock that a test moves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plan = KeptRun(folder / "state").plan
        self.clock = Clock()
        self.journal = Journal(folder, self.plan, self.clock)

    def step(self, name: str) -> Step:
        return self.plan.step(name)

    def entry(self, name: str) -> StepEntry:
        return next(entry for entry in read_journal(self.folder).steps if entry.step == name)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def test_it_lists_every_step_of_the_plan_in_its_order(kept: Kept) -> None:
    kept.journal.started(kept.step("deploy"))
    steps = [entry.step for entry in read_journal(kept.folder).steps]
    assert steps == [step.id for step in (*kept.plan.steps, kept.plan.finally_)]


def test_starts_and_ends_are_written_at_once(kept: Kept) -> None:
    kept.journal.started(kept.step("deploy"))
    kept.clock.now += 0.01
    kept.journal.ended(kept.step("deploy"), 3)
    entry = kept.entry("deploy")
    assert (entry.started, entry.ended, entry.exit_code) == (100.0, 100.01, 3)


def test_what_steps_tell_is_written_once_a_second(kept: Kept) -> None:
    kept.journal.started(kept.step("block1-measure"))
    kept.journal.progress(kept.step("block1-measure"), LOAD)
    assert kept.entry("block1-measure").load is None
    kept.clock.now += EVERY
    kept.journal.progress(kept.step("block1-measure"), {**LOAD, "requests": 500})
    load = kept.entry("block1-measure").load
    assert load is not None
    assert (load.requests, load.ttft_p99) == (500, None)


def test_a_clock_that_is_set_back_does_not_silence_it(kept: Kept) -> None:
    kept.journal.started(kept.step("block1-measure"))
    kept.clock.now -= 3600
    kept.journal.progress(kept.step("block1-measure"), LOAD)
    assert kept.entry("block1-measure").load is not None


def test_windows_and_recovery_are_kept(kept: Kept) -> None:
    inject = kept.step("block1-inject")
    kept.journal.progress(inject, WINDOW)
    kept.journal.progress(inject, {"event": "recovery", "seconds": 2.0})
    kept.journal.ended(inject, 0)
    entry = kept.entry("block1-inject")
    assert entry.sweep is not None
    assert (entry.sweep.fault, entry.sweep.window, entry.sweep.of, entry.recovering) == ("slow-wire", 2, 9, True)


@pytest.mark.parametrize(
    "told",
    [
        {"event": "load"},
        {"event": "load", "elapsed": "soon", "requests": 1},
        {**LOAD, "ttft_p99": math.nan},
        {"event": "window", "fault": "f"},
        {"event": "anything", "text": "x" * 100_000},
        {"event": None},
        {},
    ],
)
def test_what_a_strangers_component_tells_leaves_the_journal_readable(kept: Kept, told: dict[str, Any]) -> None:
    step = kept.step("block1-measure")
    kept.journal.progress(step, told)
    kept.journal.ended(step, 0)
    entry = kept.entry("block1-measure")
    assert (entry.load, entry.sweep, entry.exit_code) == (None, None, 0)
    assert (kept.folder / FILE).stat().st_size < 10_000


def test_control_characters_of_a_fault_do_not_reach_the_reader(kept: Kept) -> None:
    inject = kept.step("block1-inject")
    kept.journal.progress(inject, {**WINDOW, "fault": "a\x1b[2Jb\nc"})
    sweep = kept.entry("block1-inject").sweep
    assert sweep is not None
    assert sweep.fault == "a\ufffd[2Jb c"


def test_the_end_says_signal_and_exit_code(kept: Kept) -> None:
    kept.journal.close(15, 143)
    page = read_journal(kept.folder)
    assert (page.signal, page.exit_code) == (15, 143)


def test_a_full_disk_does_not_end_the_run(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> None:
        raise ArtifactError("no room")

    monkeypatch.setattr(module, "write_whole", full)
    kept.journal.started(kept.step("deploy"))
    kept.journal.close(None, 0)
    monkeypatch.setattr(module, "write_whole", write_whole)
    kept.journal.ended(kept.step("deploy"), 0)
    assert kept.entry("deploy").started == 100.0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"steps": 1}', json.dumps({"steps": [{"step": "a"}]}), "\x00"])
def test_one_that_cannot_be_read_is_an_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert read_journal(tmp_path).steps == ()


def test_none_at_all_is_an_empty_one(tmp_path: Path) -> None:
    assert read_journal(tmp_path).steps == ()
