"""Targets of faults of the cluster: pods as data, faults as a spec has them, and a run's objects for `FakeCluster`."""

from __future__ import annotations

from typing import Any

from fake_cluster import pod

from chaosgate.model.change import TargetPod
from chaosgate.model.fault import FAULTS, ClusterFault

Json = dict[str, Any]

RUN = "small-x7"
PARAMETERS = {
    "pod.cpu-limit": "cut",
    "pod.memory-limit": "cut",
    "deployment.replica-loss": "replicas",
    "node.taint": "nodes",
    "node.cordon": "nodes",
}
"""The dose's parameter of each kind, where it is not the number of pods."""


def cluster_fault(kind: str, *values: Any, name: str = "mine", **fields: Any) -> ClusterFault:
    """A fault of the kind, with doses (by default one of 1, or of 50 %)."""
    parameter = PARAMETERS.get(kind, "pods")
    doses = values or (("50 %",) if parameter == "cut" else (1,))
    dose = {"parameter": parameter, "values": list(doses), "windows": 3, "hold": "4s", "washout": "1s"}
    found = FAULTS.get(kind).model_validate({"name": name, "kind": kind, "dose": dose, **fields})
    assert isinstance(found, ClusterFault)
    return found


def target_pods(count: int = 4, nodes: int = 2, **fields: Any) -> list[TargetPod]:
    """So many pods of one Deployment, in turn on so many nodes."""
    given: dict[str, Any] = {"deployment": "engine", "limits": {"cpu": 2.0}, "requests": {"cpu": 0.1}, **fields}
    return [
        TargetPod(name=f"engine-{number}", uid=f"uid-{number}", container="engine", node=f"n{number % nodes}", **given)
        for number in range(count)
    ]


def engine_pod(name: str, *, ready: bool = True, limit: str | None = "2", node: str = "n0", **status: Any) -> Json:
    """A pod of the run's own engine, as the API server has it: part of the Deployment `engine`."""
    labels = {"chaosgate/run": RUN, "chaosgate/role": "engine", "chaos-injectable": "true", "pod-template-hash": "5d9c"}
    found = pod(name, ready=ready, node=node, **labels)
    found["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "engine-5d9c"}]
    found["metadata"]["resourceVersion"] = "1"
    limits = {} if limit is None else {"cpu": limit}
    resources = {"requests": {"cpu": "100m"}, "limits": limits}
    found["spec"]["containers"][0]["resources"] = resources
    found["status"]["containerStatuses"][0] |= {"state": {"running": {}}, "resources": resources, **status}
    return found


def engine_deployment(replicas: int = 2) -> Json:
    """The Deployment of the run's own engine."""
    return {
        "kind": "Deployment",
        "metadata": {"name": "engine", "namespace": "chaos", "labels": {}, "resourceVersion": "7"},
        "spec": {"replicas": replicas},
    }
