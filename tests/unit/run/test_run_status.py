"""How a run stands, read from its folder: each state, each step, and folders in which something is broken."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from kept_run import STARTED, KeptRun, finished, running

from chaosgate.components.aborting import Abort, write_abort
from chaosgate.run.status import list_runs, read_line, read_status

RUN = "small-drill-1"
ABORT = Abort(by="ann@laptop", reason="the pager went off", at="2027-01-15T08:00:00+00:00")


def step_states(state: Path) -> dict[str, str]:
    return {step.step: step.state for step in read_status(state, RUN).steps}


def test_a_run_whose_runner_lives_is_running(tmp_path: Path) -> None:
    running(tmp_path)
    line = read_line(tmp_path, RUN)
    assert (line.state, line.spec, line.verdict, line.exit_code) == ("running", "small-drill", None, None)
    assert line.started == STARTED
    assert step_states(tmp_path) == {
        "deploy": "ok",
        "baseline-measure": "ok",
        "block1-measure": "running",
        "block1-inject": "running",
        "conclude": "waiting",
        "gate": "waiting",
        "cleanup": "waiting",
    }


def test_a_running_step_has_its_numbers_and_how_long_it_runs(tmp_path: Path) -> None:
    running(tmp_path)
    status = read_status(tmp_path, RUN, lambda: STARTED + 10)
    measure = next(step for step in status.steps if step.step == "block1-measure")
    inject = next(step for step in status.steps if step.step == "block1-inject")
    assert measure.seconds == 4.0
    assert measure.load is not None
    assert measure.load.requests == 412
    assert inject.sweep is not None
    assert inject.sweep.window == 2
    assert [process.pid for process in status.processes if process.role == "runner"] == [os.getpid()]


def test_a_finished_run_has_verdict_seal_and_exit_code(tmp_path: Path) -> None:
    kept = finished(tmp_path, verdict="fail", code=1)
    status = read_status(tmp_path, RUN)
    assert (status.line.state, status.line.verdict, status.line.exit_code) == ("finished", "fail", 1)
    assert status.seal_holds
    assert status.report == str(kept.folder / "conclude" / "report.html")
    assert status.problems == ()
    assert status.processes == ()
    assert {step.state for step in status.steps} == {"ok", "ended"}


def test_a_run_that_ended_itself_but_not_its_process_is_finished(tmp_path: Path) -> None:
    finished(tmp_path).process("runner", os.getpid())
    assert read_line(tmp_path, RUN).state == "finished"


def test_a_run_without_a_runner_and_without_a_seal_is_unsealed(tmp_path: Path) -> None:
    running(tmp_path).process("runner")
    assert read_line(tmp_path, RUN).state == "unsealed"
    states = step_states(tmp_path)
    assert (states["block1-inject"], states["conclude"]) == ("lost", "skipped")


def test_one_that_was_not_left_clean_is_unsealed(tmp_path: Path) -> None:
    finished(tmp_path).sealed("engine (process 7)")
    status = read_status(tmp_path, RUN)
    assert status.line.state == "unsealed"
    assert status.seal is not None
    assert not status.seal_holds


def test_a_seal_over_another_record_does_not_hold(tmp_path: Path) -> None:
    finished(tmp_path).concluded("fail", "written later")
    status = read_status(tmp_path, RUN)
    assert (status.line.state, status.seal_holds) == ("unsealed", False)


def test_a_run_that_was_swept_before_its_verdict_was_interrupted(tmp_path: Path) -> None:
    KeptRun(tmp_path).opened().process("runner").sealed().journal()
    line = read_line(tmp_path, RUN)
    assert (line.state, line.verdict, line.exit_code) == ("interrupted", None, None)


def test_one_that_a_signal_ended_was_interrupted_though_it_has_a_verdict(tmp_path: Path) -> None:
    finished(tmp_path).journal(signal=15, exit_code=143)
    line = read_line(tmp_path, RUN)
    assert (line.state, line.verdict, line.exit_code) == ("interrupted", "pass", 143)


def test_an_aborted_run_says_by_whom(tmp_path: Path) -> None:
    kept = finished(tmp_path, verdict="error")
    write_abort(kept.folder, ABORT)
    status = read_status(tmp_path, RUN)
    assert status.line.state == "interrupted"
    assert status.abort == ABORT


def test_a_run_of_another_machine_is_elsewhere_until_it_is_sealed(tmp_path: Path) -> None:
    kept = running(tmp_path).process("runner", os.getpid(), host="node-7")
    assert read_line(tmp_path, RUN).state == "elsewhere"
    kept.concluded().sealed()
    assert read_line(tmp_path, RUN).state == "finished"


def test_a_step_that_left_no_status_has_its_exit_code(tmp_path: Path) -> None:
    finished(tmp_path).step("gate", exit_code=1).journal(exit_code=1)
    gate = next(step for step in read_status(tmp_path, RUN).steps if step.step == "gate")
    assert (gate.state, gate.exit_code, gate.seconds) == ("ended", 1, 1.0)


def test_a_step_that_declined_gives_its_reason(tmp_path: Path) -> None:
    finished(tmp_path).ended("block1-inject", "declined", "the baseline is unhealthy")
    inject = next(step for step in read_status(tmp_path, RUN).steps if step.step == "block1-inject")
    assert (inject.state, inject.reason) == ("declined", "the baseline is unhealthy")


def test_runs_are_listed_newest_first(tmp_path: Path) -> None:
    for number, run in enumerate(("b-old", "a-new", "c-older")):
        KeptRun(tmp_path, run).step("deploy", started=(20, 30, 10)[number])
    assert [line.run for line in list_runs(tmp_path)] == ["a-new", "b-old", "c-older"]


def test_a_run_that_has_no_journal_yet_started_when_its_spec_was_written(tmp_path: Path) -> None:
    kept = KeptRun(tmp_path)
    os.utime(kept.folder / "spec.json", (STARTED + 5, STARTED + 5))
    assert read_line(tmp_path, RUN).started == STARTED + 5


@pytest.mark.parametrize("name", ["runs", "runs/x.txt"])
def test_what_is_no_run_is_not_listed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("")
    assert list_runs(tmp_path) == []


BROKEN = ("", "{", "null", "[]", '{"content": 5}', "\x00\xff")


@pytest.mark.parametrize("file", ["spec.json", "conclude/verdict.json", "cleanup/cleanup.json"])
@pytest.mark.parametrize("text", BROKEN[1:])
def test_a_file_that_cannot_be_read_is_a_problem_and_no_end(tmp_path: Path, file: str, text: str) -> None:
    kept = finished(tmp_path)
    (kept.folder / file).write_text(text)
    status = read_status(tmp_path, RUN)
    assert len(status.problems) == 1
    assert str(kept.folder / file) in status.problems[0]


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize(
    "file", ["journal.json", "abort.json", "processes/runner.json", "deploy/status.json", "conclude/recording.json"]
)
def test_no_broken_file_keeps_a_run_from_being_shown(tmp_path: Path, file: str, text: str) -> None:
    kept = finished(tmp_path)
    (kept.folder / file).write_text(text)
    assert json.dumps(read_status(tmp_path, RUN).to_json())


@pytest.mark.parametrize("file", ["journal.json", "conclude/verdict.json", "cleanup/cleanup.json", "abort.json"])
def test_a_folder_where_a_file_should_be_is_no_end_either(tmp_path: Path, file: str) -> None:
    kept = finished(tmp_path)
    (kept.folder / file).unlink(missing_ok=True)
    (kept.folder / file).mkdir()
    assert read_status(tmp_path, RUN).line.run == RUN


def test_without_a_journal_nothing_is_said_of_the_steps(tmp_path: Path) -> None:
    kept = finished(tmp_path)
    (kept.folder / "journal.json").unlink()
    status = read_status(tmp_path, RUN)
    assert status.steps == ()
    assert status.problems == (f"{kept.folder}: no journal can be read, so nothing is known of its steps",)
