"""One step of a local run as a process: started, listened to, ended at its deadline."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

from chaosgate.artifacts import STATUS, Identity, write_document
from chaosgate.components.definition import find_component
from chaosgate.components.places import spec_file, step_file, step_role
from chaosgate.components.progress import heard
from chaosgate.deploy.processes import (
    last_lines,
    log_file,
    marked_environment,
    open_log,
    python,
    register_child,
)
from chaosgate.model.plan import Step
from chaosgate.model.result import Process, StepStatus

GRACE = 5.0
"""Seconds a step has to end after SIGTERM, and again after SIGKILL."""
LAST_WORDS = 1.0
"""Seconds to read what a step that has ended still said; a process that it left behind may hold its output open."""
LAST_LINES = 3
"""Lines of a step's log that its reason quotes: the end of a traceback."""


@dataclass
class RunningStep:
    """A step that was started. `progress` holds what it told and nobody has read yet."""

    step: Step
    process: Process
    child: subprocess.Popen[str]
    started: float
    listener: threading.Thread
    progress: SimpleQueue[dict[str, Any]]
    ended: str | None = None
    """Why the carrier ended it, None while it did not."""

    def told(self) -> list[dict[str, Any]]:
        """What the step told since the last call."""
        found: list[dict[str, Any]] = []
        while True:
            try:
                found.append(self.progress.get_nowait())
            except Empty:
                return found

    def exit_code(self) -> int | None:
        """The exit code, None while it runs; with it, all that the step told has been read.

        A step that not even SIGKILL ended hangs in the system: it counts as killed, and cleanup says that it is left.
        """
        code = self.child.poll()
        if code is None and self.ended is not None:
            return -signal.SIGKILL
        if code is not None:
            self.listener.join(LAST_WORDS)
        return code

    def late(self) -> bool:
        """Whether its deadline has passed."""
        return time.monotonic() - self.started > self.step.deadline

    def end(self, why: str) -> None:
        """End it, gently first; returns after twice GRACE at the latest."""
        self.ended = why
        # Its id is its own until it was waited for, so that no other process is ever signalled.
        for ask in (self.child.terminate, self.child.kill):
            ask()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(GRACE)
                return


def start_step(step: Step, run: str, state: Path, folder: Path) -> RunningStep:
    """Start `step` in a session of its own; what it prints goes to `<run>/logs/step-<id>.log`.

    An ArtifactError when it cannot be logged or written down; nothing runs then.
    """
    role = step_role(step.id)
    with open_log(folder, role) as errors:
        child = subprocess.Popen(
            python(*command(step, run, state, folder)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            env=marked_environment(folder),
        )
    process = register_child(folder, role, child)
    assert child.stdout is not None  # it was asked for as a pipe
    progress: SimpleQueue[dict[str, Any]] = SimpleQueue()
    listener = threading.Thread(target=_listen, args=(child.stdout, log_file(folder, role), progress), daemon=True)
    listener.start()
    return RunningStep(step, process, child, time.monotonic(), listener, progress)


def leave_status(running: RunningStep, code: int, identity: Identity, folder: Path) -> None:
    """Write the status of a step that ended without one: `failed`, with what is known of it. Never replaces one.

    An ArtifactError when it cannot be written.
    """
    step = running.step
    ports = {port.name: port for port in find_component(step.component).outputs}
    if "status" not in ports:
        return
    file = step_file(folder, step.id, ports["status"].file)
    if not file.exists():
        reason = f"{step.id} {crash_text(code, running.ended)}: {_words(folder, step)}"
        write_document(file, STATUS, identity, StepStatus(step=step.id, status="failed", reason=reason))


def crash_text(code: int, ended: str | None) -> str:
    """`was ended at its deadline of 60 s`, `was killed by SIGKILL` or `crashed with exit code 1`."""
    if ended is not None:
        return f"was ended {ended}"
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"crashed with exit code {code}" if code else "ended without a status"


def _words(folder: Path, step: Step) -> str:
    role = step_role(step.id)
    lines = " | ".join(line.strip() for line in last_lines(folder, role, LAST_LINES).splitlines())
    return f"{lines}; log: {log_file(folder, role)}"


def command(step: Step, run: str, state: Path, folder: Path) -> list[str]:
    """The words after the interpreter: the component's own definition of its command line, with local paths."""
    component = find_component(step.component)
    inputs = [
        (read.port, read.step, str(step_file(folder, read.step, port.file)))
        for read in step.inputs
        for port in component.inputs
        if port.name == read.port
    ]
    if any(port.name == "spec" for port in component.inputs):
        inputs.append(("spec", "run", str(spec_file(folder))))
    outputs = {port.name: str(step_file(folder, step.id, port.file)) for port in component.outputs}
    return component.argv(("--run", run, "--state", str(state)), step.arguments, inputs, outputs)


def _listen(output: IO[str], log: Path, progress: SimpleQueue[dict[str, Any]]) -> None:
    for line in output:
        told = heard(line)
        if told is not None:
            progress.put(told)
            continue
        # A full disk must not stop the reading: the step would wait for ever to be read.
        with contextlib.suppress(OSError), log.open("a") as rest:
            rest.write(line)
