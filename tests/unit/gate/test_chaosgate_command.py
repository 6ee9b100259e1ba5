"""The calls of chaosgate: what is believed of an answer, which exit code stands for several, how a call is ended."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import chaosgate_command as module
import pytest
from changed_specs import GateError
from chaosgate_command import Chaosgate, Drill, Ended, Ending, find_command, message, problems_of, read_drill, worst
from gate_rig import FakeChaosgate, spec
from hypothesis import given
from hypothesis import strategies as st
from small_drill import write_spec

REAL = Path(sys.executable).with_name("chaosgate")


def command(folder: Path, ending: Ending | None = None, name: str = "chaosgate") -> Chaosgate:
    return Chaosgate(name, folder, os.environ, ending or Ending(60))


def outcome(code: int = 0, **more: Any) -> str:
    verdict = {"verdict": "pass", "reasons": [{"text": "all is well"}]}
    told = {"run": "r1", "folder": "/runs/r1", "exitCode": code, "problems": [], "verdict": verdict}
    return json.dumps({**told, "cleanup": {"clean": True}, **more})


# what is believed of a run


def test_an_outcome_that_agrees_with_the_exit_code_is_believed() -> None:
    assert read_drill("a.yaml", Ended(0, outcome(), "")) == Drill(
        "a.yaml", 0, "pass", ("all is well",), "r1", Path("/runs/r1")
    )


@pytest.mark.parametrize("code", [0, 1, 3])
def test_an_outcome_that_disagrees_is_an_error(code: int) -> None:
    found = read_drill("a.yaml", Ended(code, outcome(code=(code + 1) % 4), ""))
    assert (found.code, found.run) == (3, "r1")


@pytest.mark.parametrize(("code", "expected"), [(0, 3), (1, 3), (2, 2), (3, 3), (4, 4), (130, 130), (143, 143)])
@pytest.mark.parametrize("stdout", ["", "null", "[]", "{}", "all well", '{"exitCode": 0}'])
def test_without_an_outcome_nothing_is_a_pass_or_a_no(code: int, expected: int, stdout: str) -> None:
    found = read_drill("a.yaml", Ended(code, stdout, "one\ntwo\x1b[0m\n"))
    assert (found.code, found.verdict, found.run) == (expected, "error", None)
    assert found.reasons == (f"no outcome: exit code {code}: one / two\ufffd[0m",)


def test_the_reasons_say_what_is_missing() -> None:
    found = read_drill("a.yaml", Ended(4, outcome(4, verdict=None, cleanup=None, problems=["disk full"]), ""))
    assert found.verdict == "error"
    assert found.reasons == ("no verdict was written", "not everything is proved reverted", "disk full")


def test_a_real_outcome_has_the_keys_that_are_read() -> None:
    from chaosgate.cli.summary import outcome_json
    from chaosgate.model.result import Cleanup, Reason, Verdict
    from chaosgate.run.outcome import Outcome

    verdict = Verdict(verdict="fail", reasons=(Reason(verdict="fail", text="x"),))
    told = json.dumps(outcome_json(Outcome("r1", Path("/r1"), verdict, Cleanup(clean=True, actions=()), 1, None)))
    assert read_drill("a.yaml", Ended(1, told, "")) == Drill("a.yaml", 1, "fail", ("x",), "r1", Path("/r1"))


# one exit code for several


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ([], 0),
        ([0, 0], 0),
        ([0, 2, 3], 3),
        ([3, 1], 1),
        ([1, 4], 4),
        ([1, 143], 143),
        ([130, 4], 4),
        ([0, 127], 3),
        ([2, -1], 3),
    ],
)
def test_the_worst_exit_code_stands_for_all(codes: list[int], code: int) -> None:
    assert worst(codes) == code


@given(st.lists(st.integers(-20, 260)))
def test_only_zeros_make_a_zero(codes: list[int]) -> None:
    assert (worst(codes) == 0) == (not any(codes))


# the calls


def test_validate_reads_what_chaosgate_says(tmp_path: Path) -> None:
    write_spec(tmp_path)
    bad = tmp_path / "bad.yaml"
    bad.write_text((tmp_path / "small-drill.yaml").read_text().replace("kind: wire.latency", "kind: wire.latencie"))
    good, refused = command(tmp_path, name=str(REAL)).validate(["small-drill.yaml", "bad.yaml"])
    assert (good.file, good.name, good.labels, good.engine) == ("small-drill.yaml", "small-drill", {}, "embedded")
    (problem,) = problems_of([refused, refused])
    assert (problem.file, problem.line, problem.column) == ("bad.yaml", 20, 13)
    assert message(problem).startswith("spec.faults[0].kind: unknown fault ")


def test_validating_nothing_calls_nothing(tmp_path: Path, fake: FakeChaosgate) -> None:
    assert command(tmp_path).validate([]) == []
    assert fake.calls() == []


def test_a_name_like_an_option_is_a_file(tmp_path: Path, fake: FakeChaosgate) -> None:
    (tmp_path / "--help").write_text(spec())
    assert command(tmp_path).validate(["--help"])[0].file == "--help"


def test_a_validation_that_gives_no_answer_says_so(tmp_path: Path, fake: FakeChaosgate) -> None:
    (tmp_path / "a.yaml").write_text(spec(more="crash: validate"))
    said = "chaosgate validate gave no answer: exit code 1: Traceback .* / ValueError: out of luck"
    with pytest.raises(GateError, match=said):
        command(tmp_path).validate(["a.yaml"])


def test_a_profile_is_passed_on(tmp_path: Path, fake: FakeChaosgate) -> None:
    (tmp_path / "a.yaml").write_text(spec())
    chaosgate = Chaosgate("chaosgate", tmp_path, os.environ, Ending(60), "p.yaml")
    chaosgate.validate(["a.yaml"])
    chaosgate.compile("a.yaml", "argo", tmp_path / "out" / "argo.yaml")
    chaosgate.run("a.yaml")
    assert [call["words"][-4:] for call in fake.calls() if isinstance(call["words"], list)] == [
        ["--profile", "p.yaml", "--", "a.yaml"],
        ["-O", str(tmp_path / "out" / "argo.yaml"), "--", "a.yaml"],
        ["--profile", "p.yaml", "--", "a.yaml"],
    ]
    assert all("p.yaml" in str(call["words"]) for call in fake.calls())


def test_a_crash_is_no_verdict(tmp_path: Path, fake: FakeChaosgate) -> None:
    (tmp_path / "a.yaml").write_text(spec(more="crash: run"))
    assert command(tmp_path).run("a.yaml").code == 3


def test_a_module_beside_the_specs_does_not_stand_in_for_another(tmp_path: Path) -> None:
    # `python -m` puts the working directory first; a pushed file must never run as the gate.
    script = tmp_path / "bin" / "tool"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -m json.tool --help\n")
    script.chmod(0o755)
    pushed = tmp_path / "pushed"
    pushed.mkdir()
    (pushed / "argparse.py").write_text("raise SystemExit('pushed code runs')")
    done = command(pushed, name=str(script)).call("x")
    assert "pushed code runs" not in done.stderr
    assert done.code == 0


def test_a_command_is_looked_up_before_the_folder_is_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("here", "pushed"):
        (tmp_path / folder).mkdir()
        tool = tmp_path / folder / "tool"
        tool.write_text(f"#!/bin/sh\necho {folder}\n")
        tool.chmod(0o755)
    monkeypatch.chdir(tmp_path / "here")
    assert command(tmp_path / "pushed", name="./tool").call().stdout == "here\n"
    monkeypatch.setenv("PATH", f".{os.pathsep}/usr/bin")
    assert find_command("tool") == str(tmp_path / "here" / "tool")


def test_a_command_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(GateError, match=r"the command 'no-such-tool' was not found; install chaosgate, or name"):
        command(tmp_path, name="no-such-tool")


def test_a_command_that_cannot_run_is_named(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/no/such/interpreter\n")
    tool.chmod(0o755)
    with pytest.raises(GateError, match=r"the command '.*tool' cannot be run: No such file or directory"):
        command(tmp_path, name=str(tool)).call()


# ending


@pytest.fixture
def deaf(tmp_path: Path) -> Path:
    """A command that does not end when it is asked to."""
    tool = tmp_path / "deaf"
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -I -c "{code}"\n')
    tool.chmod(0o755)
    return tool


def test_a_call_is_asked_to_end_when_time_is_over(tmp_path: Path, fake: FakeChaosgate) -> None:
    (tmp_path / "a.yaml").write_text(spec(more="hang"))
    ending = Ending(0.5)
    done = command(tmp_path, ending).run("a.yaml")
    assert (done.code, done.verdict) == (143, "error")
    assert ending.why() == "the time limit of 0.5 s is over"


def test_a_call_that_does_not_end_is_killed(tmp_path: Path, deaf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 0.5)
    assert command(tmp_path, Ending(0.5), str(deaf)).call().code == 128 + signal.SIGKILL


def test_whoever_waits_may_leave() -> None:
    assert Ending(60, left=lambda: True).why() == "nobody waits for the answer any more"
    assert Ending(60).why() is None


def test_a_signal_is_noted_and_the_first_one_counts() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        ending = Ending(60)
        ending.watch_signals()
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)
        assert (ending.why(), ending.signal) == ("interrupted by SIGTERM", signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
