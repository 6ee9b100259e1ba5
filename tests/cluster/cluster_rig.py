"""Workflows on the cluster under test: made, watched, harmed, and everything of theirs that is still there."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from cluster_ground import PATIENCE, POLL, Ground
from small_drill import environment
from testbed.api import Json
from testbed.places import ROOT

from chaosgate.artifacts import SEAL, VERDICT, Artifact, read_document
from chaosgate.components.progress import heard
from chaosgate.model.base import Frozen
from chaosgate.model.result import Cleanup, Verdict
from chaosgate.model.spec import ChaosSpec
from chaosgate.tracking.mlflow_record import fetch_run

Model = TypeVar("Model", bound=Frozen)

WORKFLOW = "argoproj.io/v1alpha1"
ENDED = ("Succeeded", "Failed", "Error")
SPEC = """\
apiVersion: chaosgate/v1
kind: ChaosSpec
metadata: {{name: {name}}}
spec:
  target: {target}
  workload:
    arrivals: {{process: constant, rate: 10/s}}
    prompts: {{set: recall-24}}
    maxTokens: 2
    warmup: 500ms
    seed: 5
  steadyState:
    windows: 3
    hold: 1500ms
    objectives:
      - {{sli: error-rate, bound: "<= 20 %"}}
  faults:
    - name: lost-line
      kind: stream.cut
      after: 1
      select: {{path: /v1/chat/completions}}
      dose: {{parameter: probability, values: [100 %], windows: 3, hold: {hold}, washout: 100ms}}
  objectives:
    - {{name: whole-answers, sli: error-rate, bound: "<= 5 %", at: {{dose: all}}, severity: gate}}
  safety: {{sweepAfter: 5s}}
  tracking: {{experiment: chaosgate/tests}}
"""
"""The smallest spec that decides anything. Its verdict rests on no latency: every stream is cut."""
EMBEDDED = "{engine: embedded, model: embedded/tiny}"


def write_spec(folder: Path, *, name: str = "small", target: str = EMBEDDED, hold: str = "800ms") -> Path:
    """The small spec as a file; longer windows leave time to harm it while its fault is on."""
    file = folder / f"{name}.yaml"
    file.write_text(SPEC.format(name=name, target=target, hold=hold))
    return file


def write_profile(folder: Path, ground: Ground, namespace: str, **carrier: Any) -> Path:
    """The profile of the cluster under test, with `carrier` over the rest of its carrier."""
    own = {"image": ground.image, "pullPolicy": "IfNotPresent", "namespace": namespace, **carrier}
    spec = {"tracking": {"uri": ground.mlflow}, "carrier": own}
    profile = {"apiVersion": "chaosgate/v1", "kind": "ChaosProfile", "metadata": {"name": "test"}, "spec": spec}
    file = folder / "profile.yaml"
    file.write_text(yaml.safe_dump(profile))
    return file


def write_own_kubeconfig(folder: Path, ground: Ground, namespace: str) -> Path:
    """The cluster's kubeconfig, with `namespace` as the current one."""
    config = yaml.safe_load(ground.kubeconfig.read_text())
    current = next(one for one in config["contexts"] if one["name"] == config["current-context"])
    current["context"]["namespace"] = namespace
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    file.chmod(0o600)
    return file


class Command:
    """The command `chaosgate` on the cluster under test, with a state directory of its own."""

    def __init__(self, folder: Path, kubeconfig: Path) -> None:
        self.state = folder / "state"
        self.env = environment(KUBECONFIG=str(kubeconfig), CHAOSGATE_STATE=str(self.state), mlflow=True)

    def __call__(
        self, *words: object, code: int | None = 0, seconds: float = PATIENCE
    ) -> subprocess.CompletedProcess[str]:
        """Run `chaosgate WORDS` to its end; an AssertionError with all it said unless it ends with `code`."""
        done = subprocess.run(
            self.argv(*words), capture_output=True, text=True, timeout=seconds, env=self.env, cwd=ROOT
        )
        said = f"chaosgate {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert code is None or done.returncode == code, said
        return done

    def start(self, *words: object, **more: Any) -> subprocess.Popen[str]:
        """Start `chaosgate WORDS`; whoever starts it ends it."""
        return subprocess.Popen(self.argv(*words), text=True, env=self.env, cwd=ROOT, **more)

    def argv(self, *words: object) -> list[str]:
        """The command line."""
        return [sys.executable, "-m", "chaosgate.cli.main", *map(str, words)]


@dataclass
class Run:
    """A run that a workflow carries: the workflow's name is the run's id."""

    ground: Ground
    namespace: str
    run: str
    begun: float = field(default_factory=time.monotonic)

    @property
    def path(self) -> str:
        """Where the workflow is served."""
        return self.ground.api.path(WORKFLOW, "Workflow", self.namespace, self.run)

    @property
    def pods(self) -> str:
        """Where the pods of the run's namespace are served."""
        return f"/api/v1/namespaces/{self.namespace}/pods"

    def workflow(self) -> Json | None:
        """The workflow, None once it was deleted."""
        return self.ground.api.get(self.path)

    def phase(self) -> str:
        """The workflow's phase, empty while it has none."""
        return str((self.workflow() or {}).get("status", {}).get("phase", ""))

    def nodes(self) -> dict[str, Json]:
        """What Argo says of each step, by its name; the exit handler is `cleanup`."""
        found = (self.workflow() or {}).get("status", {}).get("nodes", {}).values()
        pods = (node for node in found if node["type"] == "Pod")
        return {
            node["displayName"].removeprefix(self.run).lstrip(".").replace("onExit", "cleanup"): node for node in pods
        }

    def wait(self, seconds: float = PATIENCE) -> Finished:
        """The workflow once it has ended."""
        self.ground.eventually(lambda: self.phase() in ENDED, f"the end of workflow {self.run}", seconds)
        return Finished(self, self.phase(), self.nodes(), time.monotonic() - self.begun)

    def pod(self, step: str) -> Json:
        """The pod of a step, once its container runs."""
        selector = f"chaosgate/run={self.run},chaosgate/step={step}"

        def running() -> Json | None:
            self.must_run(step)
            pods = self.ground.api.get(self.pods, labelSelector=selector)
            return next((pod for pod in (pods or {}).get("items", []) if runs(pod)), None)

        return self.ground.eventually(running, f"a running pod of step {step}", PATIENCE)

    def must_run(self, step: str) -> None:
        """An AssertionError where the workflow has ended, so that nothing more comes of `step`."""
        phase = self.phase()
        assert phase not in ENDED, f"workflow {self.run} has ended ({phase}) while step {step} was waited for"

    def kill(self, step: str) -> None:
        """Take the pod of a step away at once, as a node that fails does."""
        name = self.pod(step)["metadata"]["name"]
        self.ground.api.delete(f"{self.pods}/{name}", gracePeriodSeconds="0")

    def shut_down(self, how: str) -> None:
        """`Stop`, which runs the exit handler, or `Terminate`, which does not."""
        self.ground.api.patch(self.path, {"spec": {"shutdown": how}})

    def delete(self) -> None:
        """Delete the workflow, and its pods with it."""
        self.ground.api.delete(self.path)

    def fault_on(self) -> None:
        """Return once the step that injects tells of a window with a dose."""
        self.told("block1-inject", "window", lambda told: told["dose"] > 0)

    def told(self, step: str, event: str, fits: Callable[[Json], bool] = lambda told: True) -> None:
        """Return once a step tells of an event, and of one that fits."""
        pod = self.pod(step)["metadata"]["name"]

        def seen() -> bool:
            self.must_run(step)
            lines = self.ground.api.call("GET", f"{self.pods}/{pod}/log", {"container": "main"}).splitlines()
            return any(told["event"] == event and fits(told) for told in map(heard, lines) if told is not None)

        self.ground.eventually(seen, f"{event} of step {step}")

    def objects(self) -> list[str]:
        """Kind and name of everything that carries the run's label, but for the workflow and what belongs to it."""
        found = self.ground.api.labelled(self.namespace, f"chaosgate/run={self.run}")
        return sorted({f"{one['kind']} {one['metadata']['name']}" for one in found if not is_argos(one)})

    def gone(self, seconds: float = PATIENCE) -> None:
        """Return once nothing of the run is left on the cluster; an AssertionError lists what is."""
        deadline = time.monotonic() + seconds
        while left := self.objects():
            assert time.monotonic() < deadline, f"left behind of {self.run}: {', '.join(left)}"
            time.sleep(POLL)

    def tags(self) -> dict[str, str]:
        """What MLflow has of the run as tags, nothing where it does not know the run."""
        return self.ground.tags(self.run) or {}

    def sealed(self) -> dict[str, str]:
        """What MLflow has of the run as tags, once it is sealed one way or the other."""
        sealed = ("clean", "unclean")
        return self.ground.eventually(
            lambda: tags if (tags := self.tags()).get("chaosgate.seal") in sealed else None,
            f"the seal of {self.run} in MLflow",
            60,
        )


@dataclass(frozen=True)
class Finished:
    """A workflow that has ended."""

    of: Run
    phase: str
    nodes: Mapping[str, Json]
    seconds: float

    def document(self, step: str, artifact: Artifact[Model], folder: Path) -> Model:
        """A document that a step told the workflow as a parameter, read as the contract says."""
        outputs = self.nodes.get(step, {}).get("outputs", {}).get("parameters", [])
        text = next((one["value"] for one in outputs if one["name"] == artifact.name), None)
        assert text is not None, f"step {step} told no {artifact.name}: {self.told()}"
        file = folder / f"{self.of.run}-{artifact.file}"
        file.write_text(text)
        return read_document(file, artifact)

    def verdict(self, folder: Path) -> Verdict:
        """The verdict."""
        return self.document("conclude", VERDICT, folder)

    def seal(self, folder: Path) -> Cleanup:
        """The seal of the exit handler."""
        return self.document("cleanup", SEAL, folder)

    def told(self) -> str:
        """How the steps ended and what Argo says of it."""
        return ", ".join(
            f"{step} {node['phase']} {node.get('message', '')}".rstrip() for step, node in self.nodes.items()
        )

    def ends(self) -> dict[str, str]:
        """How each step ended in Argo's words."""
        return {step: node["phase"] for step, node in self.nodes.items()}


Submit = Callable[..., Run]
"""The fixture `submit`: a spec's file, and what to change in the compiled workflow, to its run."""


def create_workflow(ground: Ground, namespace: str, workflow: Json) -> Run:
    """Submit a compiled workflow."""
    made = ground.api.create(workflow)
    return Run(ground, namespace, made["metadata"]["name"])


def files_of(ground: Ground, run: str, spec: ChaosSpec, folder: Path) -> Path:
    """Every file of a run as MLflow keeps them, in `folder`, as they would lie in the folder of a local run."""
    tracking = spec.spec.tracking.model_copy(update={"uri": ground.mlflow})
    recorded = spec.model_copy(update={"spec": spec.spec.model_copy(update={"tracking": tracking})})
    folder.mkdir()
    fetch_run(run, recorded, None, folder)
    return folder


def runs(pod: Json) -> bool:
    """Whether the step's own container runs."""
    states = pod.get("status", {}).get("containerStatuses", [])
    return any(one["name"] == "main" and "running" in one.get("state", {}) for one in states)


def is_argos(one: Json) -> bool:
    """Whether an object is the workflow, or one that goes with it."""
    owners = one["metadata"].get("ownerReferences", [])
    return one["kind"] == "Workflow" or any(owner["kind"] == "Workflow" for owner in owners)
