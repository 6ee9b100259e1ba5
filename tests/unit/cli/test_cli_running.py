"""status, logs and abort: what they say and how they exit. Nothing here starts a drill."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from kept_run import STARTED, KeptRun, finished, running
from small_drill import command, environment

from chaosgate.cli.main import chaosgate
from chaosgate.cli.status_text import age_text
from chaosgate.components.aborting import Abort, write_abort
from chaosgate.run.logs import FolderLogs

RUN = "small-drill-1"


def call(*words: object) -> Result:
    return CliRunner().invoke(chaosgate, [str(word) for word in words])


def said(*words: object, state: Path) -> list[str]:
    """The lines of a command that goes well, without the spaces at their ends."""
    result = call(*words, "--state", state)
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.stdout.splitlines()]


# status without a run


def test_the_list_is_a_line_a_run_newest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaosgate.cli.status_text.time.time", lambda: STARTED + 7205)
    finished(tmp_path, "old-1", "fail", 1)
    running(tmp_path, "new-1").step("deploy", started=3600)
    header, *lines = said("status", state=tmp_path)
    assert header.split() == ["run", "spec", "state", "verdict", "age", "exit", "code"]
    assert [line.split() for line in lines] == [
        ["new-1", "small-drill", "running", "-", "2h", "0m", "-"],
        ["old-1", "small-drill", "finished", "fail", "2h", "0m", "1"],
    ]


def test_the_list_as_json(tmp_path: Path) -> None:
    finished(tmp_path, verdict="fail", code=1)
    (line,) = json.loads(call("status", "--state", tmp_path, "-o", "json").stdout)
    assert line == {
        "run": RUN,
        "spec": "small-drill",
        "state": "finished",
        "verdict": "fail",
        "started": STARTED,
        "exitCode": 1,
    }


def test_an_empty_state_directory_says_what_to_do(tmp_path: Path) -> None:
    assert said("status", state=tmp_path / "none") == [f"{tmp_path}/none: no runs; start one: chaosgate run SPEC"]
    assert json.loads(call("status", "--state", tmp_path, "-o", "json").stdout) == []


# status of a run


def test_a_running_run_shows_steps_window_numbers_and_what_comes_next(tmp_path: Path) -> None:
    running(tmp_path)
    lines = said("status", RUN, state=tmp_path)
    assert lines[0] == f"run        {RUN}"
    assert lines[2].startswith("state      running, started ")
    assert "verdict    not yet" in lines
    assert any(line.startswith("processes  runner (") for line in lines)
    (measure,) = (line for line in lines if line.startswith("block1-measure"))
    assert measure.endswith("412 requests  TTFT p99 12.3ms  errors 1 %")
    (inject,) = (line for line in lines if line.startswith("block1-inject"))
    assert inject.endswith("slow-wire 100ms (window 3 of 9)")
    assert lines[-2:] == [
        f"next       chaosgate logs {RUN} --follow",
        f"next       chaosgate abort {RUN} --reason TEXT",
    ]


def test_a_recovering_sweep_says_so(tmp_path: Path) -> None:
    running(tmp_path).step("block1-inject", recovering=True)
    assert any(line.endswith("recovery") for line in said("status", RUN, state=tmp_path))


def test_a_failed_run_shows_its_reasons_and_its_report(tmp_path: Path) -> None:
    kept = finished(tmp_path, verdict="fail", code=1).ended("block1-inject", "failed", "block1-inject was killed")
    lines = said("status", RUN, state=tmp_path)
    assert "verdict    fail: answers: fine" in lines
    assert "seal       clean, nothing left behind" in lines
    assert f"report     {kept.folder}/conclude/report.html" in lines
    (inject,) = (line for line in lines if line.startswith("block1-inject"))
    assert inject.endswith("block1-inject was killed")
    assert not any(line.startswith("next") for line in lines)


@pytest.mark.parametrize(
    ("kept", "following"),
    [
        (lambda state: running(state).process("runner"), [f"chaosgate cleanup {RUN}"]),
        (lambda state: finished(state).sealed("engine (process 7)"), [f"chaosgate cleanup {RUN}"]),
        (lambda state: finished(state).concluded(recorded=False).sealed(), [f"chaosgate record {RUN}"]),
        (
            lambda state: running(state).process("runner", 1, host="node-7"),
            ["ask on the machine it belongs to; nothing can be said of its processes from here"],
        ),
        (
            lambda state: finished(state).journal(signal=15, exit_code=143),
            ["run the spec again: this run says nothing about its subject"],
        ),
    ],
)
def test_what_to_do_next_follows_from_the_state(tmp_path: Path, kept: Any, following: list[str]) -> None:
    kept(tmp_path)
    lines = said("status", RUN, state=tmp_path)
    assert [line.removeprefix("next").strip() for line in lines if line.startswith("next")] == following


def test_an_aborted_run_says_by_whom_and_why(tmp_path: Path) -> None:
    kept = finished(tmp_path, verdict="error")
    write_abort(kept.folder, Abort(by="ann@laptop", reason="the pager went off", at="2027-01-15T08:00:00+00:00"))
    lines = said("status", RUN, state=tmp_path)
    assert "aborted    by ann@laptop: the pager went off (2027-01-15T08:00:00+00:00)" in lines


def test_what_is_left_behind_is_named(tmp_path: Path) -> None:
    finished(tmp_path).sealed("engine (process 7)", "gateway (process 8)")
    assert "seal       left behind: engine (process 7); gateway (process 8)" in said("status", RUN, state=tmp_path)


def test_a_seal_that_no_longer_holds_says_why(tmp_path: Path) -> None:
    finished(tmp_path).concluded("fail", "later")
    expected = "seal       no longer holds: the record is not the one that was sealed"
    assert expected in said("status", RUN, state=tmp_path)


def test_json_holds_everything(tmp_path: Path) -> None:
    finished(tmp_path)
    status = json.loads(call("status", RUN, "--state", tmp_path, "-o", "json").stdout)
    assert status["line"]["run"] == RUN
    assert status["sealHolds"] is True
    assert status["steps"][0]["step"] == "deploy"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0s"), (59.94, "59.9s"), (60, "1m 0s"), (7325, "2h 2m"), (200_000, "2d 7h"), (-3, "0.0s")],
)
def test_ages_are_easy_to_read(seconds: float, text: str) -> None:
    assert age_text(seconds) == text


# logs


def test_lines_of_several_logs_carry_their_names(tmp_path: Path) -> None:
    running(tmp_path).log("engine", "serving\n").log("step-deploy", "one\ntwo\n")
    assert said("logs", RUN, state=tmp_path) == [
        "deploy           | one",
        "deploy           | two",
        "engine           | serving",
    ]


def test_one_log_is_printed_as_it_is(tmp_path: Path) -> None:
    running(tmp_path).log("engine", "serving\n").log("step-deploy", "one\ntwo\nthree")
    assert said("logs", RUN, "deploy", "--tail", "1", state=tmp_path) == ["two", "three"]
    assert said("logs", RUN, "engine", state=tmp_path) == ["serving"]


def test_a_step_that_wrote_nothing_yet_is_known(tmp_path: Path) -> None:
    running(tmp_path)
    assert said("logs", RUN, "conclude", state=tmp_path) == []
    assert said("logs", RUN, state=tmp_path) == []


def test_control_characters_are_made_harmless(tmp_path: Path) -> None:
    running(tmp_path).log("engine", b"\x1b[2J\x07forged\x00 \xff\n")
    assert said("logs", RUN, "engine", state=tmp_path) == ["\ufffd[2J\ufffdforged\ufffd \ufffd"]


def test_an_unknown_step_ends_in_the_nearest(tmp_path: Path) -> None:
    running(tmp_path).log("engine", "")
    result = call("logs", RUN, "block1-mesure", "--state", tmp_path)
    assert (result.exit_code, result.stderr) == (
        2,
        f"{RUN}: unknown step or server 'block1-mesure'; did you mean 'block1-measure'?\n",
    )


def test_following_shows_what_comes_and_ends_with_the_seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FolderLogs, "poll", 0.01)
    kept = running(tmp_path).log("step-deploy", "old\nup\n")

    def go_on() -> None:
        time.sleep(0.1)
        kept.log("engine", "serving\nhalf a li")
        time.sleep(0.1)
        with (kept.folder / "logs" / "engine.log").open("a") as log:
            log.write("ne\nlast words")
        kept.concluded().sealed()

    writer = threading.Thread(target=go_on)
    writer.start()
    lines = said("logs", RUN, "--follow", "--tail", "1", state=tmp_path)
    writer.join()
    assert [line.replace(" ", "") for line in lines] == [
        "deploy|up",
        "engine|serving",
        "engine|halfaline",
        "engine|lastwords",
    ]


def test_following_a_run_that_is_over_ends_at_once(tmp_path: Path) -> None:
    finished(tmp_path).log("engine", "serving\n")
    assert said("logs", RUN, "engine", "--follow", state=tmp_path) == ["serving"]


# abort


def test_aborting_a_run_that_is_over_says_so(tmp_path: Path) -> None:
    finished(tmp_path, verdict="fail", code=1)
    assert said("abort", RUN, state=tmp_path) == [
        f"{RUN} was over before, there is nothing to abort",
        "verdict: fail: answers: fine",
        "cleanup: clean, nothing left behind",
    ]


def test_a_reason_is_short(tmp_path: Path) -> None:
    running(tmp_path)
    result = call("abort", RUN, "--reason", "x" * 501, "--state", tmp_path)
    assert (result.exit_code, result.stderr) == (2, "--reason: has 501 characters; at most 500 are allowed\n")


def test_a_run_of_another_machine_is_aborted_there(tmp_path: Path) -> None:
    running(tmp_path).process("runner", 1, host="node-7")
    result = call("abort", RUN, "--state", tmp_path)
    assert (result.exit_code, result.stderr) == (2, f"{RUN}: runs on node-7; abort it there\n")


def test_json_of_an_abort_stands_alone_on_stdout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaosgate.components.cleanup.record_seal", lambda *_: None)
    KeptRun(tmp_path).process("runner")
    result = call("abort", RUN, "--reason", "enough", "--state", tmp_path, "-o", "json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["exitCode"], told["abort"]["reason"]) == (0, 0, "enough")
    assert "the runner is gone; cleaning up" in result.stderr


def test_no_reason_is_said_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaosgate.components.cleanup.record_seal", lambda *_: None)
    KeptRun(tmp_path).process("runner")
    monkeypatch.setattr("chaosgate.cli.running.getpass.getuser", lambda: "ann")
    monkeypatch.setattr("chaosgate.cli.running.socket.gethostname", lambda: "laptop")
    assert said("abort", RUN, state=tmp_path)[0] == "aborted by ann@laptop: no reason was given"


def test_a_user_without_a_name_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    from chaosgate.cli.running import _who

    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 1234")

    monkeypatch.setattr("chaosgate.cli.running.getpass.getuser", nameless)
    assert _who().startswith("uid-")


# a user's mistake


@pytest.mark.parametrize("verb", ["status", "logs", "abort"])
@pytest.mark.parametrize(
    "name", ["..", "../..", "/", "/etc", ".", "small-drill-1/", "Small", "*", "\x1b[2J", "x" * 5000]
)
def test_what_is_no_run_is_refused_in_one_line(tmp_path: Path, verb: str, name: str) -> None:
    finished(tmp_path)
    result = call(verb, name, "--state", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"{tmp_path}: unknown run {name!r}; ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("verb", ["status", "logs", "abort"])
def test_a_state_directory_that_is_a_file_is_refused(tmp_path: Path, verb: str) -> None:
    file = tmp_path / "state"
    file.write_text("")
    result = call(verb, RUN, "--state", file)
    assert result.exit_code == 2
    assert f"Directory '{file}' is a file" in result.stderr


@pytest.mark.parametrize("verb", ["status", "logs", "abort"])
def test_runs_that_is_a_file_holds_no_run(tmp_path: Path, verb: str) -> None:
    (tmp_path / "runs").write_text("")
    result = call(verb, RUN, "--state", tmp_path)
    assert (result.exit_code, result.stderr) == (2, f"{tmp_path}: unknown run '{RUN}'; known: none\n")


def test_another_users_run_is_none_of_mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finished(tmp_path)
    KeptRun(tmp_path, "theirs-1")
    look = Path.is_file

    def refuse(path: Path) -> bool:
        if path.parent.name == "theirs-1":
            raise PermissionError(13, "Permission denied", str(path))
        return look(path)

    monkeypatch.setattr(Path, "is_file", refuse)
    assert [line.split()[0] for line in said("status", state=tmp_path)[1:]] == [RUN]


BROKEN = ("", "{", "[]", "null", '{"steps": [5]}', "\x00")
FILES = ("journal.json", "abort.json", "spec.json", "conclude/verdict.json", "cleanup/cleanup.json")


@pytest.mark.parametrize("file", [*FILES, "processes/runner.json", "deploy/endpoint.json", "deploy/record.json"])
@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("words", [("status",), ("status", RUN), ("logs", RUN), ("status", RUN, "-o", "json")])
def test_broken_files_are_no_traceback(tmp_path: Path, file: str, text: str, words: tuple[str, ...]) -> None:
    kept = finished(tmp_path)
    (kept.folder / file).write_text(text)
    result = call(*words, "--state", tmp_path)
    assert result.exit_code in (0, 2), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("file", [*FILES, "deploy/endpoint.json"])
@pytest.mark.parametrize("text", BROKEN)
def test_broken_files_do_not_keep_a_run_from_being_aborted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str
) -> None:
    monkeypatch.setattr("chaosgate.components.cleanup.record_seal", lambda *_: None)
    monkeypatch.setattr("chaosgate.run.abort.LocalCarrier.conclude_aborted", lambda _: None)
    kept = running(tmp_path).process("runner")
    (kept.folder / file).parent.mkdir(exist_ok=True)
    (kept.folder / file).write_text(text)
    result = call("abort", RUN, "--state", tmp_path)
    assert result.exit_code == 0, result.output
    assert "cleanup: clean, nothing left behind" in result.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("words", [("status",), ("status", RUN), ("logs", RUN), ("abort", RUN)])
@pytest.mark.parametrize("left", ["| head -1", ">&-", "| true"])
def test_a_reader_that_leaves_is_no_error_message(tmp_path: Path, words: tuple[str, ...], left: str) -> None:
    kept = finished(tmp_path).log("engine", "x\n" * 100_000)
    line = " ".join([*command(*words), "--state", str(kept.state)])
    piped = subprocess.run(
        ["bash", "-c", f"{line} {left}"], capture_output=True, text=True, timeout=60, env=environment()
    )
    assert piped.stderr == ""


def test_a_mistake_leaves_no_traceback_in_a_real_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "chaosgate.cli.main", "abort", "../..", "--state", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (2, f"{tmp_path}: unknown run '../..'; known: none\n")
