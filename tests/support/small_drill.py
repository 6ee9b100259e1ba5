"""A whole drill of a few seconds as real processes on loopback, and the means to harm it and to see what is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from chaosgate.artifacts import RECORD, SEAL, VERDICT, Artifact, read_document
from chaosgate.deploy.processes import alive, registered, stop, strays
from chaosgate.errors import ArtifactError
from chaosgate.model.base import Frozen
from chaosgate.model.result import Cleanup, Process, Record, Verdict

Found = TypeVar("Found")
Model = TypeVar("Model", bound=Frozen)

SUPPORT = Path(__file__).parent
PATIENCE = 60.0
"""Seconds to wait for what must come; only a broken run needs them."""
SPEC = """\
apiVersion: chaosgate/v1
kind: ChaosSpec
metadata: {{name: {name}}}
spec:
  target: {target}
  workload:
    arrivals: {{process: constant, rate: 40/s}}
    prompts: {{set: {prompts}}}
    maxTokens: 2
    warmup: 200ms
    timeout: 2s
    seed: 5
  steadyState:
    windows: 3
    hold: 400ms
    objectives:
      - {{sli: error-rate, bound: "<= 20 %"}}
  faults:
    - name: slow-wire
      kind: wire.latency
      select: {{path: /v1/chat/completions}}
      dose: {{parameter: delay, values: [100ms], windows: 3, hold: {hold}, washout: 50ms}}
  objectives:
    - {{name: answers, sli: error-rate, bound: "{bound}", at: {{dose: all}}, severity: gate}}
  safety: {{stopWhen: [{{sli: error-rate, bound: "> 50 %", consecutive: 2}}]}}
  tracking: {{experiment: chaosgate/tests}}
"""
ANSWERS = """\
apiVersion: chaosgate/v1
kind: ChaosSpec
metadata: {{name: {name}}}
spec:
  target: {{engine: embedded, model: embedded/tiny}}
  workload:
    arrivals: {{process: constant, rate: {rate}}}
    prompts: {{set: recall-24}}
    maxTokens: 8
    warmup: 400ms
    timeout: 5s
    seed: 5
  steadyState:
    windows: 3
    hold: 1s
    objectives:
      - {{sli: error-rate, bound: "<= 20 %"}}
  tracking: {{experiment: chaosgate/tests}}
{rest}"""
"""A spec that looks at whole answers; `rest` says what is injected and asked."""
EMBEDDED = "{engine: embedded, model: embedded/tiny}"


def write_spec(
    folder: Path,
    *,
    target: str = EMBEDDED,
    hold: str = "400ms",
    prompts: str = "recall-24",
    bound: str = "<= 50 %",
    name: str = "small-drill",
) -> Path:
    """The small spec as a file; unharmed it passes, as its one objective bounds the errors and there are none."""
    file = folder / f"{name}.yaml"
    file.write_text(SPEC.format(target=target, hold=hold, prompts=prompts, bound=bound, name=name))
    return file


def write_answers_spec(folder: Path, name: str, rate: str, rest: str) -> Path:
    """A spec that looks at whole answers as a file."""
    file = folder / f"{name}.yaml"
    file.write_text(ANSWERS.format(name=name, rate=rate, rest=rest))
    return file


def environment(*, mlflow: bool = False, **more: str) -> dict[str, str]:
    """The environment of a drill; without MLflow, whose import alone takes seconds, unless a test is about it."""
    blocked = {} if mlflow else {"PYTHONPATH": str(SUPPORT / "without_mlflow")}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MLFLOW_", "CHAOSGATE_"))}
    return {**kept, **blocked, **more}


def chaosgate(*words: object, env: Mapping[str, str] | None = None, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        command(*words), capture_output=True, text=True, timeout=PATIENCE * 2, env=env or environment(), **more
    )


def command(*words: object) -> list[str]:
    """The command line of `chaosgate WORDS`."""
    return [sys.executable, "-m", "chaosgate.cli.main", *map(str, words)]


def eventually(look: Callable[[], Found | None], what: str, seconds: float = PATIENCE) -> Found:
    """What `look` finds, once it finds something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come within {seconds:g} s")


class Drill:
    """`chaosgate run` of a spec in a process of its own."""

    def __init__(self, state: Path, spec: Path, env: Mapping[str, str] | None = None) -> None:
        self.state, self.spec = state, spec
        self.child = subprocess.Popen(
            command("run", spec, "--state", state),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=env or environment(),
        )
        self.folder = eventually(self._folder, "the run's folder")

    def _folder(self) -> Path | None:
        return next((self.state / "runs").glob("*"), None)

    @property
    def run(self) -> str:
        """The run id."""
        return self.folder.name

    def process(self, role: str) -> Process:
        """A process of the run, once it was written down."""
        file = self.folder / "processes" / f"{role}.json"
        eventually(file.exists, f"the process {role}")
        return Process.model_validate_json(file.read_bytes())

    def kill(self, role: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to a process of the run."""
        os.kill(self.process(role).pid, number)

    def step(self, step: str) -> None:
        """Return once `step` has been started."""
        self.process(f"step-{step}")

    def fault_on(self) -> None:
        """Return once a window with a dose is on at the gateway."""
        self.step("block1-inject")
        eventually(lambda: any(fault["dose"] > 0 for fault in self.active()), "a fault that is on")

    def active(self) -> list[dict[str, Any]]:
        """The faults that are on, as the gateway says."""
        endpoint = json.loads((self.folder / "deploy" / "endpoint.json").read_text())["content"]
        token = Path(endpoint["token"]["file"]).read_text().strip()
        request = urllib.request.Request(endpoint["admin"] + "/v1/faults", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=5) as answer:
            active: list[dict[str, Any]] = json.load(answer)["active"]
        return active

    def finish(self) -> tuple[int, str]:
        """The exit code and all output, once it has ended."""
        output, _ = self.child.communicate(timeout=PATIENCE * 2)
        return self.child.returncode, output

    def document(self, step: str, artifact: Artifact[Model]) -> Model:
        """A document of the run."""
        return read_document(self.folder / step / artifact.file, artifact)

    def verdict(self) -> Verdict:
        """The verdict."""
        return self.document("conclude", VERDICT)

    def record(self) -> Record:
        """The record in force."""
        concluded = (self.folder / "conclude" / "record.json").exists()
        return self.document("conclude" if concluded else "deploy", RECORD)

    def seal(self) -> Cleanup | None:
        """The seal, None while there is none."""
        try:
            return self.document("cleanup", SEAL)
        except ArtifactError:
            return None

    def left(self) -> list[Process]:
        """The processes of the run that are alive."""
        return [*filter(alive, registered(self.folder)), *strays(self.folder)]

    def close(self) -> list[Process]:
        """End whatever is left, for a test that failed half way; returns what that was."""
        if self.child.poll() is None:
            self.child.kill()
            self.child.communicate()
        # The sweeper ends by itself once it sees the seal.
        deadline = time.monotonic() + 5
        while self.left() and self.seal() is not None and time.monotonic() < deadline:
            time.sleep(0.05)
        left = self.left()
        for process in left:
            stop(process)
        return left


Start = Callable[..., Drill]
"""The fixture `start`: starts a drill in a state directory of its own."""
