"""The local carrier: every step of a plan as a process on this machine, and cleanup at the end whatever happens."""

from __future__ import annotations

import os
import secrets
import signal
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from chaosgate.artifacts import VERDICT, Identity, write_spec
from chaosgate.artifacts.files import is_written
from chaosgate.components.aborting import read_abort
from chaosgate.components.cleanup import clean_up
from chaosgate.components.definition import BUILT_IN
from chaosgate.components.places import ignore_in_git, make_private, run_dir, spec_file, step_file
from chaosgate.deploy.processes import register
from chaosgate.errors import ArtifactError
from chaosgate.model.plan import CONCLUDE, GATE, Plan, Step
from chaosgate.model.spec import ChaosSpec
from chaosgate.run.journal import Journal
from chaosgate.run.outcome import Outcome, read_outcome
from chaosgate.run.steps import RunningStep, leave_status, start_step

POLL = 0.05
"""Seconds between two looks at the running steps."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that end the steps, not the cleanup."""
OPTIONAL = (signal.SIGHUP, signal.SIGQUIT)
"""Of these, the ones that stay ignored where they are: nohup ignores SIGHUP so that a run outlives its terminal."""
ABORTED_CONCLUDE = 60.0
"""Seconds to conclude an aborted run, which judges nothing: only a record that cannot be reached takes longer."""


class Listener(Protocol):
    """Who is told of a run's progress."""

    def started(self, step: Step) -> None: ...
    def progress(self, step: Step, told: Mapping[str, Any]) -> None: ...
    def ended(self, step: Step, exit_code: int) -> None: ...


class Listeners:
    """Several listeners as one, told in their order."""

    def __init__(self, *listeners: Listener) -> None:
        self.listeners = listeners

    def started(self, step: Step) -> None:
        """Tell each."""
        for listener in self.listeners:
            listener.started(step)

    def progress(self, step: Step, told: Mapping[str, Any]) -> None:
        """Tell each."""
        for listener in self.listeners:
            listener.progress(step, told)

    def ended(self, step: Step, exit_code: int) -> None:
        """Tell each."""
        for listener in self.listeners:
            listener.ended(step, exit_code)


def new_run_id(spec: ChaosSpec) -> str:
    """`<spec>-<UTC time>-<random>`: a DNS label, at most 63 characters, different for two runs at once."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return f"{spec.metadata.name[:40].rstrip('-')}-{stamp}-{secrets.token_hex(3)}"


def run_locally(spec: ChaosSpec, plan: Plan, state: Path, listener: Listener, run: str | None = None) -> Outcome:
    """Run `plan` to its end and clean up; SIGINT, SIGTERM, SIGHUP and SIGQUIT end the steps, not the cleanup.

    An ArtifactError when the state directory cannot be written from the start; nothing has been started then. Where it
    cannot be written later on, the outcome says so among its problems.
    """
    run = run or new_run_id(spec)
    state = state.resolve()
    folder = run_dir(state, run)
    journal = Journal(folder, plan)
    carrier = LocalCarrier(plan, Identity(run, spec.digest()), state, folder, Listeners(journal, listener))
    with carrier.signals():
        make_private(folder)
        write_spec(spec_file(folder), spec)
        ignore_in_git(state)
        register(folder, "runner", os.getpid())
        try:
            carrier.run_steps()
            carrier.conclude_aborted()
        finally:
            carrier.run_cleanup()
    outcome = read_outcome(run, folder, carrier.exit_codes.get(GATE), carrier.signal, tuple(carrier.problems))
    journal.close(outcome.signal, outcome.exit_code)
    return outcome


def leave_terminal() -> None:
    """Send what is still printed nowhere: writing to a terminal that hung up is an error, which would end the run."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        # A terminal that hung up does not pass for one any more, but it still is a device; a file or a pipe goes on.
        if stat.S_ISCHR(os.fstat(descriptor).st_mode):
            os.dup2(nowhere, descriptor)
    os.close(nowhere)


class LocalCarrier:
    """Starts each step once all steps it reads from have ended, however they ended: failure is data."""

    def __init__(self, plan: Plan, identity: Identity, state: Path, folder: Path, listener: Listener) -> None:
        self.plan, self.identity, self.state, self.folder, self.listener = plan, identity, state, folder, listener
        self.running: dict[str, RunningStep] = {}
        self.exit_codes: dict[str, int] = {}
        self.signal: int | None = None
        self.problems: list[str] = []
        """What kept the carrier itself from its work, such as a full disk."""

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Note the signals that end a run instead of dying of them."""
        ignored = {number for number in OPTIONAL if signal.getsignal(number) == signal.SIG_IGN}
        before = {number: signal.signal(number, self._note) for number in ENDING if number not in ignored}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or number
        if number == signal.SIGHUP:
            leave_terminal()

    def run_steps(self) -> None:
        """Run all steps but the last one; ends early on a signal, and when a step cannot be started."""
        try:
            while self.signal is None and len(self.exit_codes) < len(self.plan.steps):
                for step in self.ready():
                    self.start(step)
                self.look()
                time.sleep(POLL)
        except ArtifactError as error:
            self.problems.append(str(error))
        finally:
            self.end_all(f"by {signal.Signals(self.signal).name}" if self.signal else "early")

    def conclude_aborted(self) -> None:
        """Where the run was aborted before its verdict: run the step that gives it one, with record and report.

        No signal stops it, for it has a deadline of its own: who aborts twice wants no less.
        """
        if read_abort(self.folder) is None or is_written(step_file(self.folder, CONCLUDE, VERDICT.file)):
            return
        try:
            self.start(self.plan.step(CONCLUDE).model_copy(update={"deadline": ABORTED_CONCLUDE}))
        except ArtifactError as error:
            self.problems.append(str(error))
        self.wait()

    def run_cleanup(self) -> None:
        """Run the last step to its end; a signal does not stop it. Where it cannot start, all is stopped from here."""
        try:
            self.start(self.plan.finally_)
        except ArtifactError as error:
            self.problems.append(str(error))
            clean_up(self.folder, self.identity.run)
        self.wait()

    def wait(self) -> None:
        """Return once every step that was started has ended."""
        while self.running:
            self.look()
            time.sleep(POLL)

    def ready(self) -> list[Step]:
        """The steps that can start now."""
        return [
            step
            for step in self.plan.steps
            if step.id not in self.running
            and step.id not in self.exit_codes
            and all(read.step in self.exit_codes for read in step.inputs)
        ]

    def start(self, step: Step) -> None:
        """Start one step; an ArtifactError when it cannot be written down."""
        self.running[step.id] = start_step(step, self.identity.run, self.state, self.folder)
        self.listener.started(step)

    def look(self) -> None:
        """Pass on what the running steps told, note which ended, end those past their deadline."""
        for running in list(self.running.values()):
            if running.exit_code() is None and running.late():
                running.end(f"at its deadline of {running.step.deadline:g} s")
            code = running.exit_code()
            for told in running.told():
                self.listener.progress(running.step, told)
            if code is not None:
                self.note_end(running, code)

    def note_end(self, running: RunningStep, code: int) -> None:
        """Take a step that ended off the list, and see that it leaves a status."""
        del self.running[running.step.id]
        self.exit_codes[running.step.id] = code
        try:
            leave_status(running, code, self.identity, self.folder)
        except ArtifactError as error:
            self.problems.append(str(error))
        if code and running.step.component not in BUILT_IN:
            self.problems.append(f"the extra step {running.step.id} ended with exit code {code}")
        self.listener.ended(running.step, code)

    def end_all(self, why: str) -> None:
        """End every step that still runs."""
        for running in self.running.values():
            running.end(why)
        self.look()
