"""How a run on Argo stands, in the words in which a run of this machine is shown; and the logs of its pods."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from chaosgate.artifacts import RECORDING, REPORT, SEAL, STATUS, VERDICT
from chaosgate.artifacts.files import is_written
from chaosgate.cli.argo_run import entry, gate_of
from chaosgate.cli.there import There
from chaosgate.cluster.api import Cluster
from chaosgate.components.places import step_file
from chaosgate.components.progress import heard
from chaosgate.deploy.cluster.clean import is_marked
from chaosgate.errors import ClusterError
from chaosgate.model.plan import CLEANUP, CONCLUDE, GATE, Step
from chaosgate.model.result import Cleanup, Verdict
from chaosgate.run.journal import news
from chaosgate.run.outcome import Outcome
from chaosgate.run.status import RunLine, RunState, RunStatus, StepState, StepView, read_status
from chaosgate.submit.argo.pods import PodLog, has_started, pods_of, why_pending
from chaosgate.submit.argo.requests import find, list_workflows, must_find
from chaosgate.submit.argo.told import read_told
from chaosgate.submit.argo.workflow import Node, Workflow

Pod = Mapping[str, Any]

TAIL = 40
"""Lines of a step's log in which its last numbers and its last window are looked for: it tells both every second."""


def list_there(cluster: Cluster, state: Path) -> list[RunLine]:
    """Every run that the namespace still knows, the newest first."""
    return [_line(There(cluster, workflow.run, state), workflow) for workflow in list_workflows(cluster)]


def status_there(there: There) -> RunStatus:
    """The run in full: as the cluster tells it, else as its folder here does, with the reason."""
    try:
        workflow = find(there.cluster, there.run)
        if workflow is not None:
            return _status(there, workflow)
        why = f"the cluster does not know the workflow (any more): {there.cluster.server}"
    except ClusterError as error:
        why = str(error)
    if not there.folder.is_dir():
        must_find(there.cluster, there.run)
    known = read_status(there.state, there.run)
    return known.model_copy(update={"problems": (*known.problems, why)})


def _status(there: There, workflow: Workflow) -> RunStatus:
    pods = pods_of(there.cluster, there.run)
    line = _line(there, workflow)
    seal = read_told(workflow, CLEANUP, SEAL)
    if workflow.is_over and seal is None and not is_marked(there.cluster, there.run):
        line = line.model_copy(update={"state": "interrupted"})
    report = step_file(there.folder, CONCLUDE, REPORT.file)
    return RunStatus(
        line=line,
        steps=tuple(_view(there, workflow, step, pods.get(step.id)) for step in workflow.steps),
        processes=(),
        verdict=read_told(workflow, CONCLUDE, VERDICT),
        abort=workflow.abort,
        seal=seal,
        seal_holds=seal is not None and seal.clean,
        recording=read_told(workflow, CONCLUDE, RECORDING),
        report=str(report) if is_written(report) else None,
        problems=(workflow.message,) if workflow.message else (),
        cluster=there.place.sentence(),
        reached_by="" if there.folder.is_dir() else f"--on argo --namespace {there.cluster.namespace}",
        pods=tuple(f"{name} ({_phase(pod)})" for name, pod in pods.items() if _phase(pod) in ("Pending", "Running")),
    )


def _phase(pod: Mapping[str, Any]) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))


def _line(there: There, workflow: Workflow) -> RunLine:
    verdict = read_told(workflow, CONCLUDE, VERDICT)
    seal = read_told(workflow, CLEANUP, SEAL)
    return RunLine(
        run=workflow.run,
        spec=workflow.spec_name,
        state=_state(workflow, verdict, seal),
        verdict=verdict.verdict if verdict is not None else None,
        started=workflow.created,
        exit_code=_exit_code(there, workflow, verdict, seal) if workflow.is_over else None,
    )


def _state(workflow: Workflow, verdict: Verdict | None, seal: Cleanup | None) -> RunState:
    if not workflow.is_over:
        return "running"
    if seal is None or not seal.clean:
        return "unsealed"
    return "interrupted" if verdict is None or workflow.is_stopping else "finished"


def _exit_code(there: There, workflow: Workflow, verdict: Verdict | None, seal: Cleanup | None) -> int:
    """The exit code of whoever followed the run to its end."""
    number = signal.SIGTERM if workflow.abort is not None else None
    return Outcome(workflow.run, there.folder, verdict, seal, gate_of(workflow), number).exit_code


def _view(there: There, workflow: Workflow, step: Step, pod: Pod | None) -> StepView:
    node, known = workflow.node(step), entry(workflow, step)
    left = read_told(workflow, step.id, STATUS)
    state = left.status if left is not None else _step_state(workflow, node, pod)
    return StepView(
        step=step.id,
        component=step.component,
        state=state,
        reason=left.reason if left is not None else _reason(there, step, node, pod),
        seconds=_seconds(node),
        exit_code=known.exit_code,
        **(_news(there, pod) if state == "running" and pod is not None else {}),
    )


def _step_state(workflow: Workflow, node: Node, pod: Pod | None) -> StepState:
    """The state of a step that told no status. Argo may take ten seconds to see that its pod runs."""
    if node.phase == "starting" and pod is not None and has_started(pod):
        return "running"
    if node.phase in ("waiting", "omitted", "starting"):
        return "skipped" if workflow.is_over or node.phase == "omitted" else "waiting"
    return "running" if node.phase == "running" else "ended"


def _reason(there: There, step: Step, node: Node, pod: Pod | None) -> str | None:
    """Why a step does not start, or what Argo says of one that ended badly; a gate that says no did its work."""
    if node.phase == "starting" and pod is not None:
        return why_pending(there.cluster, pod)
    return node.message or None if node.failed and step.id != GATE else None


def _seconds(node: Node) -> float | None:
    """How long a step ran, or has run by now."""
    if node.started is None or node.phase not in ("running", "ended"):
        return None
    return max(0.0, (node.ended or time.time()) - node.started)


def _news(there: There, pod: Pod) -> dict[str, Any]:
    """The last numbers and the last window that a running step told, by field."""
    found: dict[str, Any] = {}
    for line in PodLog(there.cluster, pod).tail(TAIL):
        found |= news(heard(line) or {})
    return found


class PodLogs:
    """The logs of a run's pods, while they are there."""

    poll = 2.0

    def __init__(self, there: There) -> None:
        self._there = there
        self._pods: dict[str, Pod] = {}

    def names(self) -> Iterable[str]:
        """Steps in the order of the plan, then servers: those that have printed anything."""
        there = self._there
        workflow = must_find(there.cluster, there.run)
        self._pods = {name: pod for name, pod in pods_of(there.cluster, there.run).items() if has_started(pod)}
        steps = [step.id for step in workflow.steps if step.id in self._pods]
        return (*steps, *sorted(self._pods.keys() - set(steps)))

    def open(self, name: str) -> PodLog:
        """One of them."""
        return PodLog(self._there.cluster, self._pods[name], progress=False)

    def is_over(self) -> bool:
        """Whether the workflow is."""
        workflow = find(self._there.cluster, self._there.run)
        return workflow is None or workflow.is_over

    def steps(self) -> Iterator[str]:
        """The steps of the run, started or not."""
        yield from (step.id for step in must_find(self._there.cluster, self._there.run).steps)
