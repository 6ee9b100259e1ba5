"""chaosgate as the gate calls it: each call a process of its own, which is ended when the gate must end."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from changed_specs import GateError, one_line

POLL = 0.2
"""Seconds between two looks at whether the gate must end."""
GRACE = 120.0
"""Seconds a call has to clean up once it was asked to end; a run's own cleanup takes at most 90."""
ERROR = 3
"""chaosgate's exit code for a run that did not work."""
RANK = (4, 129, 130, 131, 143, 1, ERROR, 2)
"""Exit codes from the worst: an unproved revert, interrupted, a no, no answer, a bad spec; others count as ERROR."""


@dataclass(frozen=True)
class Problem:
    """What is wrong, in a spec or in the profile it is read with; line and column count from 1, 0 means unknown.

    `text` begins with the place.
    """

    file: str
    line: int
    column: int
    text: str


@dataclass(frozen=True)
class Report:
    """What `validate` says of one spec; an invalid one has no name, labels and engine."""

    file: str
    problems: tuple[Problem, ...]
    name: str | None = None
    labels: Mapping[str, str] | None = None
    engine: str | None = None


@dataclass(frozen=True)
class Drill:
    """How one drill ended: its exit code, and what the run says of it. Without a run the reasons say why."""

    file: str
    code: int
    verdict: str
    reasons: tuple[str, ...] = ()
    run: str | None = None
    folder: Path | None = None


@dataclass(frozen=True)
class Ended:
    """A call that is over; a code of 128 + n stands for signal n."""

    code: int
    stdout: str
    stderr: str


class Ending:
    """Why the gate must end before its work is done: a signal, its time, or that nobody waits for the answer."""

    def __init__(self, seconds: float, left: Callable[[], bool] = lambda: False) -> None:
        self.seconds, self.left = seconds, left
        self.deadline = time.monotonic() + seconds
        self.signal: int | None = None

    def watch_signals(self) -> None:
        """From now on SIGINT, SIGTERM and SIGHUP end the gate in order: what it started is ended first."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or number

    def why(self) -> str | None:
        """The reason, None while there is none."""
        if self.signal is not None:
            return f"interrupted by {signal.Signals(self.signal).name}"
        if time.monotonic() >= self.deadline:
            return f"the time limit of {self.seconds:g} s is over"
        return "nobody waits for the answer any more" if self.left() else None


class Chaosgate:
    """The command `chaosgate`, run in the folder of the specs."""

    def __init__(
        self, command: str, folder: Path, environment: Mapping[str, str], ending: Ending, profile: str = ""
    ) -> None:
        self.command, self.folder, self.ending = find_command(command), folder, ending
        # The folder holds what others wrote: no module there may stand in for one of Python's or chaosgate's own.
        self.environment = {**environment, "PYTHONSAFEPATH": "1"}
        self.profile = ["--profile", profile] if profile else []

    def call(self, *words: str) -> Ended:
        """Run `chaosgate WORDS` to its end; when the gate must end, ask it to end and wait while it cleans up."""
        try:
            # Away from the terminal: an interrupt reaches the gate alone, which then ends the call once.
            process = subprocess.Popen(
                [self.command, *words],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise GateError(f"the command {self.command!r} cannot be run: {error.strerror}") from None
        stdout, stderr = self._wait(process)
        code = process.returncode
        return Ended(code if code >= 0 else 128 - code, stdout, stderr)

    def _wait(self, process: subprocess.Popen[str]) -> tuple[str, str]:
        while self.ending.why() is None:
            try:
                return process.communicate(timeout=POLL)
            except subprocess.TimeoutExpired:
                continue
        process.terminate()
        try:
            return process.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            # The run's sweeper sees that its runner is gone, and cleans up.
            process.kill()
            return process.communicate()

    def validate(self, files: Sequence[str]) -> list[Report]:
        """What is wrong with each file."""
        if not files:
            return []
        done = self.call("validate", "-o", "json", *self.profile, "--", *files)
        try:
            return [_report(one) for one in json.loads(done.stdout)]
        except (ValueError, KeyError, TypeError):
            raise GateError(f"chaosgate validate gave no answer: {_last_words(done)}") from None

    def compile(self, file: str, carrier: str, target: Path) -> str | None:
        """Write the pipeline of a spec to `target`; returns why that did not work, None where it did.

        A run on KFP imports the spec's file, which is written beside its pipeline.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = ["--spec-out", str(target.with_name("spec.json"))] if carrier == "kfp" else []
        done = self.call("compile", "--to", carrier, *beside, *self.profile, "-O", str(target), "--", file)
        return _last_words(done) if done.code else None

    def run(self, file: str) -> Drill:
        """Drill a spec to its verdict."""
        return read_drill(file, self.call("run", "-o", "json", *self.profile, "--", file))

    def report(self, run: str, form: str, target: Path) -> str | None:
        """Write a run's report to `target`; returns why that did not work, None where it did."""
        target.parent.mkdir(parents=True, exist_ok=True)
        done = self.call("report", run, "--format", form, "-O", str(target))
        return _last_words(done) if done.code else None


def find_command(command: str) -> str:
    """The absolute path of a command by its name or path; a GateError when there is none.

    It is looked up before the folder of the specs is entered, so that nothing in there is ever taken for it.
    """
    found = shutil.which(command)
    if found is None:
        raise GateError(f"the command {command!r} was not found; install chaosgate, or name its full path")
    return str(Path(found).absolute())


def read_drill(file: str, done: Ended) -> Drill:
    """How a drill ended. Only an outcome that agrees with the exit code may say pass or fail."""
    try:
        outcome = json.loads(done.stdout)
        code = done.code if outcome["exitCode"] == done.code else ERROR
        return Drill(file, code, *_verdict(outcome), outcome["run"], Path(outcome["folder"]))
    except (ValueError, KeyError, TypeError):
        # A crash of Python exits with 1, which would read as a no of the gate.
        code = ERROR if done.code in (0, 1) else done.code
        return Drill(file, code, "error", (f"no outcome: {_last_words(done)}",))


def worst(codes: Iterable[int]) -> int:
    """The one exit code for several: 0 only if all are 0, else the one that ranks first."""
    failed = [code if code in RANK else ERROR for code in codes if code]
    return min(failed, key=RANK.index, default=0)


def problems_of(reports: Iterable[Report]) -> list[Problem]:
    """Every problem once: what is wrong with a profile is part of the report of each spec."""
    return list(dict.fromkeys(problem for report in reports for problem in report.problems))


def message(problem: Problem) -> str:
    """The text of a problem without its place, for where the place is shown in another way."""
    return problem.text.removeprefix(f"{problem.file}:{problem.line}:{problem.column} ")


def _report(told: Mapping[str, Any]) -> Report:
    problems = tuple(Problem(one["file"], one["line"], one["column"], one["text"]) for one in told["problems"])
    if problems:
        return Report(told["file"], problems)
    return Report(told["file"], (), told["name"], told["labels"], told["engine"])


def _verdict(outcome: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    verdict = outcome["verdict"]
    reasons = [reason["text"] for reason in verdict["reasons"]] if verdict else ["no verdict was written"]
    cleanup = outcome["cleanup"]
    if cleanup is None or not cleanup["clean"]:
        reasons.append("not everything is proved reverted")
    return (verdict["verdict"] if verdict else "error"), (*reasons, *outcome["problems"])


def _last_words(done: Ended) -> str:
    """The exit code and the last lines a call printed."""
    lines = [one_line(line) for line in (done.stderr or done.stdout).strip().splitlines()[-5:]]
    return f"exit code {done.code}: {' / '.join(lines) or 'no output'}"
