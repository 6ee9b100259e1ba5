"""`chaosgate abort` on real drills: no fault, no process, a clean seal, and the reason wherever the run is told of."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from small_drill import Drill, Start, chaosgate, command, environment, eventually

pytestmark = pytest.mark.slow

REASON = "the pager went off"


def abort(drill: Drill, *words: str) -> subprocess.CompletedProcess[str]:
    return chaosgate("abort", drill.run, "--state", drill.state, *words)


def check_aborted(drill: Drill, reason: str = REASON) -> None:
    """Sealed clean, nothing alive, and the reason in verdict, record and report."""
    seal = drill.seal()
    assert seal is not None
    assert seal.clean, seal
    assert drill.left() == []
    verdict, record = drill.verdict(), drill.record()
    assert verdict.verdict == record.verdict == "error"
    for reasons in (verdict.reasons, record.reasons):
        assert [one.text.partition(": ")[2] for one in reasons] == [reason]
        assert reasons[0].text.startswith("aborted by ")
    assert reason in (drill.folder / "conclude" / "report.html").read_text()


def status(drill: Drill) -> dict[str, object]:
    said = chaosgate("status", drill.run, "--state", drill.state, "-o", "json")
    assert said.returncode == 0, said.stderr
    line: dict[str, object] = json.loads(said.stdout)["line"]
    return line


@pytest.mark.thorough
def test_a_fault_that_is_on_goes_off_and_nothing_is_left(start: Start) -> None:
    drill = start(hold="5s")
    drill.fault_on()
    assert status(drill)["state"] == "running"
    said = abort(drill, "--reason", REASON)
    assert said.returncode == 0, said.stderr
    assert "removed fault slow-wire" in said.stdout
    assert f"asked the runner (process {drill.child.pid}) to end" in said.stdout
    assert said.stdout.splitlines()[-1] == "cleanup: clean, nothing left behind"
    assert "Traceback" not in said.stdout + said.stderr
    check_aborted(drill)
    code, output = drill.finish()
    assert code == 128 + signal.SIGTERM, output
    assert f"aborted by {said.stdout.splitlines()[0].removeprefix('aborted by ')}" in output
    line = status(drill)
    assert (line["state"], line["verdict"], line["exitCode"]) == ("interrupted", "error", 143)
    again = abort(drill, "--reason", "another one")
    assert again.returncode == 0
    assert again.stdout.startswith(f"{drill.run} was over before, there is nothing to abort\n")
    check_aborted(drill)


@pytest.mark.parametrize("moment", ["deploy", "engine", "baseline"])
def test_before_anything_is_injected(start: Start, moment: str) -> None:
    drill = start()
    {"deploy": drill.step, "engine": drill.process, "baseline": drill.step}[moment](
        {"deploy": "deploy", "engine": "engine", "baseline": "baseline-measure"}[moment]
    )
    said = abort(drill, "--reason", REASON, "-o", "json")
    assert said.returncode == 0, said.stderr
    told = json.loads(said.stdout)
    assert (told["verdict"], told["cleanup"]["clean"], told["abort"]["reason"]) == ("error", True, REASON)
    check_aborted(drill)
    assert drill.finish()[0] == 143


@pytest.mark.thorough
def test_two_at_once_end_it_once(start: Start) -> None:
    drill = start(hold="5s")
    drill.fault_on()
    words = command("abort", drill.run, "--state", drill.state, "--reason", REASON)
    both = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment())
        for _ in "ab"
    ]
    for one in both:
        output, _ = one.communicate(timeout=120)
        assert one.returncode == 0, output
        assert "Traceback" not in output
    check_aborted(drill)


@pytest.mark.thorough
def test_a_reader_that_leaves_does_not_end_the_abort(start: Start) -> None:
    drill = start(hold="5s")
    drill.fault_on()
    line = " ".join(command("abort", drill.run, "--state", drill.state, "--reason", "enough"))
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line} | true"],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(),
    )
    assert done.stderr.count("Traceback") == 0
    check_aborted(drill, "enough")
    assert done.returncode == 0


@pytest.mark.thorough
def test_a_run_whose_runner_and_sweeper_are_gone_is_cleaned_up_from_here(start: Start) -> None:
    drill = start(hold="5s")
    drill.fault_on()
    drill.kill("sweeper")
    drill.child.kill()
    drill.child.wait()
    assert status(drill)["state"] == "unsealed"
    assert drill.left() != []
    said = abort(drill, "--reason", REASON)
    assert said.returncode == 0, said.stdout + said.stderr
    assert "the runner is gone; cleaning up" in said.stdout
    check_aborted(drill)
    assert status(drill)["state"] == "interrupted"


@pytest.mark.thorough
def test_a_run_whose_runner_alone_is_gone_ends_clean_whoever_is_first(start: Start) -> None:
    drill = start(hold="5s")
    drill.fault_on()
    drill.child.kill()
    drill.child.wait()
    said = abort(drill, "--reason", REASON)
    assert said.returncode == 0, said.stdout + said.stderr
    seal = drill.seal()
    assert seal is not None
    assert seal.clean
    eventually(lambda: not drill.left(), "the end of every process", 15)
    assert drill.record().verdict == "error"


@pytest.mark.thorough
def test_a_finished_run_keeps_its_verdict_and_its_logs_end(start: Start, tmp_path: Path) -> None:
    drill = start()
    follow = subprocess.Popen(
        command("logs", drill.run, "--follow", "--state", drill.state),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**environment(), "PYTHONUNBUFFERED": "1"},
    )
    code, output = drill.finish()
    followed, _ = follow.communicate(timeout=60)
    assert follow.returncode == 0, followed
    assert any(line.startswith("engine ") and "serving embedded/tiny" in line for line in followed.splitlines())
    assert any(line.startswith("cleanup ") for line in followed.splitlines())
    said = abort(drill, "--reason", REASON)
    assert (said.returncode, drill.verdict().exit_code) == (0, code), output
    assert said.stdout.startswith(f"{drill.run} was over before, there is nothing to abort\n")
    assert not os.path.exists(drill.folder / "abort.json")
