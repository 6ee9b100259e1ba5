"""One step of a local run as a process: started, listened to, ended at its deadline."""

from __future__ import annotations

import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

from chaosgate.components.definition import COMPONENTS
from chaosgate.components.places import spec_file, step_file
from chaosgate.components.progress import heard
from chaosgate.deploy.processes import python, register, stop
from chaosgate.model.plan import Step
from chaosgate.model.result import Process


@dataclass
class RunningStep:
    """A step that was started. `progress` holds what it told and nobody has read yet."""

    step: Step
    process: Process
    child: subprocess.Popen[str]
    started: float
    progress: SimpleQueue[dict[str, Any]] = field(default_factory=SimpleQueue)

    def told(self) -> list[dict[str, Any]]:
        """What the step told since the last call."""
        found: list[dict[str, Any]] = []
        while True:
            try:
                found.append(self.progress.get_nowait())
            except Empty:
                return found

    def exit_code(self) -> int | None:
        """The exit code, None while it runs."""
        return self.child.poll()

    def late(self) -> bool:
        """Whether its deadline has passed."""
        return time.monotonic() - self.started > self.step.deadline

    def end(self) -> None:
        """End it, gently first."""
        stop(self.process)
        self.child.wait()


def start_step(step: Step, run: str, state: Path, folder: Path) -> RunningStep:
    """Start `step` in a session of its own; what it prints goes to `<run>/logs/step-<id>.log`."""
    role = f"step-{step.id}"
    log = folder / "logs" / f"{role}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as errors:
        child = subprocess.Popen(
            python(*command(step, run, state, folder)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    running = RunningStep(step, register(folder, role, child.pid), child, time.monotonic())
    assert child.stdout is not None  # it was asked for as a pipe
    threading.Thread(target=_listen, args=(child.stdout, log, running.progress), daemon=True).start()
    return running


def command(step: Step, run: str, state: Path, folder: Path) -> list[str]:
    """The words after the interpreter: the component's own definition of its command line, with local paths."""
    component = COMPONENTS[step.component]
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
    with log.open("a") as rest:
        for line in output:
            told = heard(line)
            if told is None:
                rest.write(line)
            else:
                progress.put(told)
