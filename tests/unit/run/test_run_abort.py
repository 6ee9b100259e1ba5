"""Aborting a run: whom it signals, when it cleans up itself, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kept_run import KeptRun, finished, running

from chaosgate.components.aborting import Abort, read_abort
from chaosgate.deploy.processes import alive, ask_to_end, registered
from chaosgate.errors import ArtifactError, UsageError
from chaosgate.run import abort as module
from chaosgate.run.abort import Aborted, abort_run

ABORT = Abort(by="ann@laptop", reason="the pager went off", at="2027-01-15T08:00:00+00:00")
GENTLE = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(143)); print('up', flush=True); "
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); "
SLEEP = "import time; time.sleep(60)"


class Concluding:
    """Stands for the carrier that concludes: notes that it was asked, and leaves what conclude would."""

    asked: list[str]
    kept: KeptRun

    def __init__(self, *words: Any) -> None: ...

    def conclude_aborted(self) -> None:
        self.asked.append("conclude")
        self.kept.concluded("error", ABORT.sentence())


@pytest.fixture(autouse=True)
def concluding(monkeypatch: pytest.MonkeyPatch) -> type[Concluding]:
    Concluding.asked = []
    monkeypatch.setattr(module, "LocalCarrier", Concluding)
    # Another run's cleanup would record in MLflow, whose import takes seconds.
    monkeypatch.setattr(module.cleanup, "record_seal", lambda *_: None)
    return Concluding


@pytest.fixture
def child(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A process that stands for a runner; the parameter says how it takes SIGTERM."""
    process = subprocess.Popen(
        [sys.executable, "-c", getattr(request, "param", GENTLE) + SLEEP], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()


def abort(kept: KeptRun, wait: float = 20.0) -> tuple[Aborted, list[str]]:
    Concluding.kept = kept
    said: list[str] = []
    return abort_run(kept.state, kept.run, ABORT, said.append, wait), said


def test_the_runner_is_asked_and_what_it_did_not_do_is_done(tmp_path: Path, child: subprocess.Popen[str]) -> None:
    kept = running(tmp_path).process("runner", child.pid)
    # Somebody has to reap it, as the shell that started a runner does.
    ended, said = abort(kept)
    assert child.wait(10) == 143
    assert ended.exit_code == 0
    assert ended.verdict is not None
    assert ended.verdict.reasons[0].text == "aborted by ann@laptop: the pager went off"
    assert said[:3] == [
        "aborted by ann@laptop: the pager went off",
        "no gateway was deployed",
        f"asked the runner (process {child.pid}) to end",
    ]
    assert "the runner is gone; cleaning up" in said


def test_a_process_with_the_runners_id_that_is_not_the_runner_is_left_alone(
    tmp_path: Path, child: subprocess.Popen[str]
) -> None:
    kept = running(tmp_path).process("runner", child.pid)
    (runner,) = registered(kept.folder)
    file = kept.folder / "processes" / "runner.json"
    file.write_text(runner.model_copy(update={"created": runner.created - 1}).model_dump_json())
    ended, said = abort(kept)
    assert ended.exit_code == 0
    assert child.poll() is None
    assert not any(line.startswith("asked") for line in said)


@pytest.mark.parametrize("child", [DEAF], indirect=True)
def test_a_runner_that_does_not_end_leaves_it_unproved(tmp_path: Path, child: subprocess.Popen[str]) -> None:
    kept = running(tmp_path).process("runner", child.pid)
    ended, said = abort(kept, wait=0.3)
    assert (ended.exit_code, ended.seal) == (4, None)
    assert said[-1] == f"the runner (process {child.pid}) has not ended within 0 s"
    assert child.poll() is None
    assert Concluding.asked == []


def test_a_run_whose_runner_is_gone_is_cleaned_up_and_concluded_from_here(tmp_path: Path) -> None:
    kept = running(tmp_path).process("runner")
    ended, said = abort(kept)
    assert ended.exit_code == 0
    assert ended.seal is not None
    assert ended.seal.clean
    assert Concluding.asked == ["conclude"]
    assert said[-1] == "the runner is gone; cleaning up"
    again, _ = abort(kept)
    assert again.abort is None
    assert Concluding.asked == ["conclude"]


def test_one_that_has_its_verdict_keeps_it(tmp_path: Path) -> None:
    kept = running(tmp_path).process("runner").concluded("pass")
    ended, _ = abort(kept)
    assert ended.verdict is not None
    assert (ended.verdict.verdict, ended.exit_code, Concluding.asked) == ("pass", 0, [])


def test_without_a_record_there_is_nothing_to_conclude(tmp_path: Path) -> None:
    ended, _ = abort(KeptRun(tmp_path))
    assert (ended.verdict, ended.exit_code, Concluding.asked) == (None, 0, [])


def test_a_spec_that_cannot_be_read_leaves_the_record_as_it_is(tmp_path: Path) -> None:
    kept = running(tmp_path).process("runner")
    (kept.folder / "spec.json").write_text("{}")
    ended, said = abort(kept)
    assert ended.exit_code == 0
    assert said[-1].startswith(f"no verdict: {kept.folder}/spec.json: ")
    assert Concluding.asked == []


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    kept = finished(tmp_path, verdict="fail", code=1)
    before = {file: file.read_bytes() for file in kept.folder.rglob("*") if file.is_file()}
    ended, said = abort(kept)
    assert (ended.abort, ended.exit_code, said) == (None, 0, [])
    assert {file: file.read_bytes() for file in kept.folder.rglob("*") if file.is_file()} == before


def test_a_run_of_another_machine_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    kept = running(tmp_path).process("runner", 1, host="node-7")
    with pytest.raises(UsageError, match="small-drill-1: runs on node-7; abort it there"):
        abort(kept)
    assert read_abort(kept.folder) is None


def test_an_abort_that_cannot_be_noted_still_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise ArtifactError("no room")

    monkeypatch.setattr(module, "write_abort", full)
    ended, said = abort(running(tmp_path).process("runner"))
    assert said[0] == "no room"
    assert ended.seal is not None
    assert ended.seal.clean


def test_ask_to_end_signals_once_and_does_not_kill(child: subprocess.Popen[str], tmp_path: Path) -> None:
    kept = running(tmp_path).process("runner", child.pid)
    (runner,) = registered(kept.folder)
    assert ask_to_end(runner)
    assert child.wait(10) == 143
    deadline = time.monotonic() + 10
    while alive(runner) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not ask_to_end(runner)


def test_json_says_the_same(tmp_path: Path) -> None:
    ended, _ = abort(running(tmp_path).process("runner"))
    said = ended.to_json()
    assert said["abort"]["reason"] == "the pager went off"
    assert (said["verdict"], said["cleanup"]["clean"], said["exitCode"]) == ("error", True, 0)
