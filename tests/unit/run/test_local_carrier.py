"""The local carrier with components that a test can hold, fail and kill, in place of the real ones."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chaosgate.artifacts import STATUS, Identity, read_document, write_document
from chaosgate.deploy import processes
from chaosgate.model.plan import Plan, Step, StepInput
from chaosgate.model.result import StepStatus
from chaosgate.run import local
from chaosgate.run import steps as steps_module
from chaosgate.run.local import LocalCarrier

SCRIPTS = {
    "ok": "print('plain line')",
    "talks": """print('{"event": "load", "requests": 3}')""",
    "crashes": "raise ValueError('no such model')",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "fails": "raise SystemExit(5)",
    "sleeps": "import time; time.sleep(60)",
    "stubborn": "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
}


class Log:
    """Remembers what the carrier said."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.told: list[Mapping[str, Any]] = []
        self.codes: dict[str, int] = {}

    def started(self, step: Step) -> None:
        self.events.append(("started", step.id))

    def progress(self, step: Step, told: Mapping[str, Any]) -> None:
        self.told.append(told)

    def ended(self, step: Step, exit_code: int) -> None:
        self.events.append(("ended", step.id))
        self.codes[step.id] = exit_code


def step(step_id: str, script: str, *after: str, deadline: float = 30.0) -> Step:
    inputs = tuple(StepInput(port="status", step=source, output="status") for source in after)
    component = "cleanup" if step_id == "cleanup" else "measure"
    return Step(id=step_id, component=component, arguments={"script": script}, inputs=inputs, deadline=deadline)


def carry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *steps: Step) -> tuple[LocalCarrier, Log]:
    monkeypatch.setattr(
        steps_module, "command", lambda step, run, state, folder: ["-c", SCRIPTS[step.arguments["script"]]]
    )
    plan = Plan(name="p", steps=steps, finally_=step("cleanup", "ok"))
    log = Log()
    return LocalCarrier(plan, Identity("run", "d"), tmp_path, tmp_path, log), log


def run(carrier: LocalCarrier) -> None:
    with carrier.signals():
        try:
            carrier.run_steps()
        finally:
            carrier.run_cleanup()


def test_a_step_starts_once_all_it_reads_from_have_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carrier, log = carry(tmp_path, monkeypatch, step("a", "ok"), step("b", "ok", "a"), step("c", "ok", "a", "b"))
    run(carrier)
    assert [name for what, name in log.events if what == "started"] == ["a", "b", "c", "cleanup"]
    assert log.events.index(("ended", "a")) < log.events.index(("started", "b"))


def test_two_steps_without_an_edge_run_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carrier, log = carry(tmp_path, monkeypatch, step("a", "ok"), step("b", "ok", "a"), step("c", "ok", "a"))
    run(carrier)
    assert log.events.index(("started", "c")) < log.events.index(("ended", "b"))


def test_a_step_that_crashes_does_not_keep_the_next_from_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carrier, log = carry(tmp_path, monkeypatch, step("a", "fails"), step("b", "ok", "a"))
    run(carrier)
    assert log.codes == {"a": 5, "b": 0, "cleanup": 0}


def test_a_step_past_its_deadline_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carrier, log = carry(tmp_path, monkeypatch, step("a", "sleeps", deadline=0.3), step("b", "ok", "a"))
    run(carrier)
    assert log.codes["a"] == -signal.SIGTERM
    assert log.codes["b"] == 0


def test_a_step_that_ignores_the_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps_module, "GRACE", 0.3)
    carrier, log = carry(tmp_path, monkeypatch, step("a", "stubborn", deadline=1.0))
    run(carrier)
    assert log.codes["a"] == -signal.SIGKILL


def test_progress_is_passed_on_and_other_output_goes_to_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carrier, log = carry(tmp_path, monkeypatch, step("a", "talks"), step("b", "ok", "a"), step("c", "ok", "b"))
    run(carrier)
    assert log.told == [{"event": "load", "requests": 3}]
    assert "plain line" in (tmp_path / "logs" / "step-b.log").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_the_steps_and_still_cleans_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    carrier, log = carry(tmp_path, monkeypatch, step("a", "sleeps"), step("b", "ok", "a"))

    def interrupt() -> None:
        while ("started", "a") not in log.events:
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    monkeypatch.setattr(local, "leave_terminal", lambda: None)
    before = signal.getsignal(number)
    threading.Thread(target=interrupt, daemon=True).start()
    run(carrier)
    assert carrier.signal == number
    assert log.codes["a"] == -signal.SIGTERM
    assert "b" not in log.codes
    assert log.codes["cleanup"] == 0
    assert signal.getsignal(number) == before


def test_a_hang_up_that_is_ignored_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carrier, _ = carry(tmp_path, monkeypatch)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with carrier.signals():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert carrier.signal is None


def test_what_is_printed_to_a_terminal_that_hung_up_goes_nowhere() -> None:
    script = (
        "import sys; from chaosgate.run.local import leave_terminal; input(); leave_terminal(); print('x', flush=True)"
    )
    master, terminal = os.openpty()
    child = subprocess.Popen(processes.python("-c", script), stdin=subprocess.PIPE, stdout=terminal, stderr=terminal)
    os.close(terminal)
    os.close(master)
    child.communicate(b"\n", timeout=60)
    assert child.returncode == 0


def test_a_step_is_ended_even_when_it_cannot_be_told_from_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ever_later = itertools.count()
    monkeypatch.setattr(processes, "created", lambda pid: float(next(ever_later)))
    carrier, log = carry(tmp_path, monkeypatch, step("a", "sleeps", deadline=0.3))
    run(carrier)
    assert log.codes["a"] == -signal.SIGTERM


def test_a_step_that_nothing_ends_does_not_hold_up_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps_module, "GRACE", 0.05)
    carrier, log = carry(tmp_path, monkeypatch, step("a", "sleeps", deadline=0.3))
    for signal_name in ("terminate", "kill"):
        monkeypatch.setattr(subprocess.Popen, signal_name, lambda child: None)
    run(carrier)
    assert log.codes["a"] == -signal.SIGKILL
    assert status_of(tmp_path, "a").reason.startswith("a was ended at its deadline of 0.3 s")
    monkeypatch.undo()
    assert [processes.stop(process) for process in processes.strays(tmp_path)] == [True]


def test_nothing_is_left_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carrier, _ = carry(tmp_path, monkeypatch, step("a", "sleeps", deadline=0.2), step("b", "ok"))
    run(carrier)
    assert not any(processes.alive(process) for process in processes.registered(tmp_path))


def status_of(tmp_path: Path, step_id: str) -> StepStatus:
    return read_document(tmp_path / step_id / "status.json", STATUS, Identity("run", "d"))


@pytest.mark.parametrize(
    ("script", "deadline", "said"),
    [
        ("crashes", 30.0, "a crashed with exit code 1: {script} | ValueError: no such model; log: {log}"),
        ("killed", 30.0, "a was killed by SIGKILL: (it wrote nothing); log: {log}"),
        ("sleeps", 0.3, "a was ended at its deadline of 0.3 s: (it wrote nothing); log: {log}"),
        ("ok", 30.0, "a ended without a status: {plain}; log: {log}"),
    ],
)
def test_a_step_without_a_status_gets_one_that_says_how_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, deadline: float, said: str
) -> None:
    carrier, _ = carry(tmp_path, monkeypatch, step("a", script, deadline=deadline))
    run(carrier)
    status = status_of(tmp_path, "a")
    assert status.status == "failed"
    head, _, tail = said.partition("{script} | ")
    log = str(tmp_path / "logs" / "step-a.log")
    assert str(status.reason).startswith(head.partition("{")[0])
    assert str(status.reason).endswith(tail.format(log=log, plain="plain line") if tail else f"; log: {log}")
    assert "\n" not in str(status.reason)


def test_a_status_that_a_step_left_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = StepStatus(step="a", status="failed", reason="the step's own words")
    write_document(tmp_path / "a" / "status.json", STATUS, Identity("run", "d"), own)
    carrier, _ = carry(tmp_path, monkeypatch, step("a", "fails"))
    run(carrier)
    assert status_of(tmp_path, "a") == own


def test_a_step_that_cannot_be_started_ends_the_run_and_stops_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carrier, log = carry(tmp_path, monkeypatch, step("a", "sleeps", deadline=20.0), step("b", "ok"))
    process, _ = processes.spawn(tmp_path, "engine", processes.python("-c", SCRIPTS["sleeps"]))
    (tmp_path / "logs" / "step-b.log").mkdir()
    (tmp_path / "logs" / "step-cleanup.log").mkdir()
    run(carrier)
    assert [problem.partition(": ")[0] for problem in carrier.problems] == [
        str(tmp_path / "logs" / f"step-{name}.log") for name in ("b", "cleanup")
    ]
    assert log.codes["a"] == -signal.SIGTERM
    assert not processes.alive(process)
