"""What is asked of Argo: run this workflow, stop it, say who aborted it."""

from __future__ import annotations

from typing import Any, Literal

import yaml

from chaosgate.cluster.api import Cluster
from chaosgate.components.aborting import Abort
from chaosgate.errors import ClusterError
from chaosgate.submit.argo.workflow import ABORT, Workflow

PART_OF = "app.kubernetes.io/part-of=chaosgate"
"""The label selector of everything that chaosgate makes."""


def submit(cluster: Cluster, text: str, run: str) -> Workflow:
    """Have the cluster run the compiled workflow `text` under the name `run`."""
    manifest: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "generateName"}
    metadata |= {"name": run, "namespace": cluster.namespace}
    return Workflow(cluster.create({**manifest, "metadata": metadata}))


def find(cluster: Cluster, run: str) -> Workflow | None:
    """The workflow of the run, None when there is none (any more)."""
    found = cluster.get("Workflow", run)
    return None if found is None else Workflow(found)


def must_find(cluster: Cluster, run: str) -> Workflow:
    """The workflow of the run; a ClusterError names the runs that are there."""
    found = find(cluster, run)
    if found is None:
        known = ", ".join(one.run for one in list_workflows(cluster)[:10]) or "none"
        raise ClusterError(
            f"namespace {cluster.namespace} of {cluster.server} has no run {run}; its runs: {known}; "
            "choose another namespace with --namespace NS"
        )
    return found


def list_workflows(cluster: Cluster) -> list[Workflow]:
    """Every run that the namespace still knows, the newest first."""
    found = [Workflow(one) for one in cluster.select("Workflow", PART_OF)]
    return sorted(found, key=lambda one: (one.created, one.run), reverse=True)


def shut_down(cluster: Cluster, run: str, how: Literal["Stop", "Terminate"] = "Stop") -> None:
    """End the workflow early. `Stop` still runs its exit handler, which cleans up; `Terminate` does not."""
    cluster.patch("Workflow", run, {"spec": {"shutdown": how}})


def note_abort(cluster: Cluster, workflow: Workflow, abort: Abort) -> Abort:
    """Write on the workflow who aborts it, unless somebody has before; the abort that stands."""
    if workflow.abort is not None:
        return workflow.abort
    cluster.patch("Workflow", workflow.run, {"metadata": {"annotations": {ABORT: abort.model_dump_json()}}})
    return abort
