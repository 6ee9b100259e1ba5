"""A run on Argo without Argo: the compiled workflow in a fake cluster, with the status that a test gives it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake_cluster import FakeCluster
from small_drill import write_spec

from chaosgate.artifacts import RECORD, SEAL, STATUS, VERDICT, Artifact, Identity, document_text
from chaosgate.artifacts.contract import Model
from chaosgate.compile.argo import compile_argo
from chaosgate.deploy.cluster.bring_up import mark
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.model.plan import CLEANUP, CONCLUDE
from chaosgate.model.result import Cleanup, Reason, Record, StepStatus, Verdict, VerdictName
from chaosgate.planner import CLUSTER, make_plan
from chaosgate.submit.argo.requests import submit
from chaosgate.submit.argo.workflow import Workflow
from chaosgate.submit.interrupts import Interrupts

RUN = "small-drill-1"
STARTED = "2027-01-15T08:00:00Z"
STEPS = ("deploy", "baseline-measure", "block1-measure", "block1-inject", "conclude", "gate", "cleanup")


def ready_cluster(*objects: dict[str, Any]) -> FakeCluster:
    """A cluster on which a run can be submitted."""
    account = {"kind": "ServiceAccount", "metadata": {"name": "chaosgate"}}
    secret = {"kind": "Secret", "metadata": {"name": "chaosgate-gateway"}, "data": {"key": "c2VjcmV0"}}
    return FakeCluster("chaos", account, secret, *objects)


class ArgoRun:
    """The workflow of the small drill under the name `run`; each method says what has become of it.

    Unless it is `made`, somebody else is to submit it.
    """

    def __init__(self, folder: Path, cluster: FakeCluster | None = None, run: str = RUN, *, made: bool = True) -> None:
        self.cluster, self.run = cluster or ready_cluster(), run
        self.file = write_spec(folder)
        self.spec = load_spec(self.file)
        self.text = compile_argo(make_plan(self.spec, CLUSTER), self.spec, Carrier())
        self.identity = Identity(run, self.spec.digest())
        if made:
            submit(self.cluster, self.text, run)
            self.data["metadata"] |= {"creationTimestamp": STARTED}

    @property
    def data(self) -> dict[str, Any]:
        """The object in the cluster."""
        return self.cluster.objects[f"/apis/argoproj.io/v1alpha1/namespaces/chaos/workflows/{self.run}"]

    @property
    def workflow(self) -> Workflow:
        """It as it is read."""
        return Workflow(self.data)

    def step(self, step: str, phase: str, *, code: int | None = None, message: str = "", **told: str) -> ArgoRun:
        """A node of Argo's, and what the step has told."""
        name = f"{self.run}.{'onExit' if step == CLEANUP else step}"
        outputs: dict[str, Any] = {"parameters": [{"name": key, "value": value} for key, value in told.items()]}
        if code is not None:
            outputs["exitCode"] = str(code)
        times = {"startedAt": STARTED, "finishedAt": "2027-01-15T08:00:07Z" if phase != "Running" else None}
        node = {"name": name, "type": "Pod", "phase": phase, "message": message, "outputs": outputs, **times}
        status = self.data.setdefault("status", {"phase": "Running"})
        status.setdefault("nodes", {})[name] = node
        return self

    def told(self, step: str, artifact: Artifact[Model], content: Model) -> ArgoRun:
        """A step that ended well and told a document."""
        return self.step(step, "Succeeded", code=0, **{artifact.name: document_text(artifact, self.identity, content)})

    def status(self, step: str, status: Any = "ok", reason: str | None = None) -> ArgoRun:
        """A step that left its status."""
        return self.told(step, STATUS, StepStatus(step=step, status=status, reason=reason))

    def concluded(self, verdict: VerdictName = "fail", text: str = "answers: too few") -> ArgoRun:
        """Verdict and record as conclude tells them, and the gate's answer."""
        reasons = (Reason(verdict=verdict, text=text),)
        found = Verdict(verdict=verdict, reasons=reasons)
        record = Record(
            name="small-drill",
            verdict=verdict,
            reasons=reasons,
            subject=None,
            started=STARTED,
            finished=STARTED,
            environment={},
            recorded="nowhere",
        )
        told = {"verdict": document_text(VERDICT, self.identity, found)}
        told["record"] = document_text(RECORD, self.identity, record)
        self.step(CONCLUDE, "Succeeded", code=0, **told)
        return self.step("gate", "Failed" if found.exit_code else "Succeeded", code=found.exit_code)

    def sealed(self, *left: str) -> ArgoRun:
        """The seal as cleanup tells it, over the record that conclude told."""
        nodes = self.data.get("status", {}).get("nodes", {})
        texts = [
            one["value"]
            for one in nodes.get(f"{self.run}.{CONCLUDE}", {}).get("outputs", {}).get("parameters", [])
            if one["name"] == "record"
        ]
        digest = json.loads(texts[0])["digest"] if texts else None
        seal = Cleanup(clean=not left, actions=("removed Service x",), left=left, record_digest=digest)
        self.told(CLEANUP, SEAL, seal)
        if left:
            self.data["status"]["nodes"][f"{self.run}.onExit"] |= {"phase": "Failed"}
        return self

    def phase(self, phase: str) -> ArgoRun:
        """How the whole stands."""
        self.data.setdefault("status", {})["phase"] = phase
        return self

    def finished(self, verdict: VerdictName = "fail") -> ArgoRun:
        """A run that came to its end and left nothing."""
        for step in STEPS[:4]:
            self.status(step)
        return self.concluded(verdict).sealed().phase("Failed" if verdict == "fail" else "Succeeded")

    def marked(self) -> ArgoRun:
        """The marker that stands while the run is not cleaned up."""
        mark(self.cluster, self.run, self.workflow.spec_text)
        return self

    def pod(self, step: str, log: str = "", *, waiting: str | None = None, **more: Any) -> ArgoRun:
        """The pod of a step or, with `role`, of a server, with what it printed; `waiting`: why it does not run."""
        role = more.pop("role", None)
        label = {"chaosgate/role": role} if role else {"chaosgate/step": step}
        state = {"waiting": {"reason": waiting, "message": "no such thing"}} if waiting else {"running": {}}
        container = role or "main"
        name = f"{self.run}-{step}"
        self.cluster.put(
            {
                "kind": "Pod",
                "metadata": {"name": name, "labels": {"chaosgate/run": self.run, **label}},
                "spec": {"containers": [{"name": "wait"}, {"name": container}] if not role else [{"name": container}]},
                "status": {
                    "phase": "Pending" if waiting else "Running",
                    "containerStatuses": [{"name": container, "state": state}],
                    **more,
                },
            }
        )
        self.cluster.printed[name] = stamped(log)
        return self


def stamped(log: str, second: int = 0) -> str:
    """The lines of `log` as the kubelet gives them, each behind its time."""
    lines = log.splitlines()
    return "".join(f"2027-01-15T08:00:{second:02d}.{index:09d}Z {line}\n" for index, line in enumerate(lines, start=1))


class Script(Interrupts):
    """Interrupts whose waits do not wait: each runs the next of `acts`; one too many is a run that never ends."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        super().__init__()
        self.acts = list(acts)

    def __enter__(self) -> Script:
        return self

    def __exit__(self, *_: object) -> None: ...

    def wait(self, seconds: float) -> None:
        """The next act."""
        assert self.acts, "the run was waited for, and nothing more was to come"
        self.acts.pop(0)()

    def interrupt(self) -> None:
        """As if Ctrl-C was pressed."""
        self._note(2, None)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now

    def pass_(self, seconds: float) -> None:
        """Later."""
        self.now += seconds
