"""The pods that a fault of the cluster may hit, found by their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from chaosgate.cluster.api import Cluster
from chaosgate.cluster.quantity import parse_quantity
from chaosgate.errors import ClusterError
from chaosgate.model.change import Resource, TargetPod
from chaosgate.model.fault import ClusterFault, ClusterTarget

Json = dict[str, Any]

HASH_LABEL = "pod-template-hash"
"""The label by which a Deployment tells its ReplicaSets apart; their names end in it."""


def target_of(fault: ClusterFault, default: ClusterTarget | None) -> ClusterTarget:
    """Whose pods `fault` may hit: what it says itself, else `default`, the pods that serve the run's target.

    A ClusterError where neither names any labels: every pod of a namespace is never meant.
    """
    own, general = fault.target, default or ClusterTarget()
    if own.labels:
        return ClusterTarget(namespace=own.namespace or general.namespace, labels=own.labels)
    if not general.labels or (own.namespace not in (None, general.namespace)):
        raise ClusterError(
            f"{fault.name}: nothing says which pods it may hit; write target: {{labels: ...}} with the labels they have"
        )
    return general


def find_pods(cluster: Cluster, target: ClusterTarget) -> list[Json]:
    """The target's pods that run and are not on their way out, sorted by name."""
    chosen = ",".join(f"{key}={value}" for key, value in sorted(target.labels.items()))
    running = [pod for pod in cluster.select("Pod", chosen, target.namespace) if is_running(pod)]
    return sorted(running, key=lambda pod: str(pod["metadata"]["name"]))


def is_running(pod: Mapping[str, Any]) -> bool:
    """Whether the pod runs and nobody has deleted it."""
    return pod.get("status", {}).get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Whether the pod takes requests."""
    conditions = pod.get("status", {}).get("conditions", [])
    return is_running(pod) and any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def as_target(pod: Mapping[str, Any], fault: ClusterFault) -> TargetPod:
    """What a fault needs to know of a pod; a ClusterError where it has no container that the fault names."""
    container = main_container(pod, getattr(fault, "container", None))
    resources = container.get("resources", {})
    return TargetPod(
        name=pod["metadata"]["name"],
        uid=pod["metadata"]["uid"],
        container=container["name"],
        node=pod["spec"].get("nodeName"),
        deployment=deployment_of(pod),
        limits=amounts(resources.get("limits", {})),
        requests=amounts(resources.get("requests", {})),
    )


def main_container(pod: Mapping[str, Any], name: str | None) -> Json:
    """The container called `name`, else the first one, as the pod's spec has it."""
    containers = pod["spec"]["containers"]
    found: Json | None = next((one for one in containers if name in (None, one["name"])), None)
    if found is None:
        known = ", ".join(one["name"] for one in containers)
        raise ClusterError(f"pod {pod['metadata']['name']} has no container {name!r}; it has {known}")
    return found


def amounts(quantities: Mapping[str, str]) -> dict[Resource, float]:
    """CPU in cores and memory in bytes, of those that are there."""
    return {resource: parse_quantity(quantities[resource]) for resource in get_args(Resource) if resource in quantities}


def deployment_of(pod: Mapping[str, Any]) -> str | None:
    """The Deployment that a pod belongs to, read off its ReplicaSet's name."""
    suffix = "-" + str(pod["metadata"].get("labels", {}).get(HASH_LABEL, ""))
    owners = [owner["name"] for owner in pod["metadata"].get("ownerReferences", []) if owner["kind"] == "ReplicaSet"]
    return next((str(name).removesuffix(suffix) for name in owners if len(suffix) > 1 and name.endswith(suffix)), None)


def deaths(pod: Mapping[str, Any]) -> int:
    """How often containers of the pod have ended so far; one that waits to be started again has died once more."""
    return sum(_deaths(status) for status in pod.get("status", {}).get("containerStatuses", []))


def _deaths(status: Mapping[str, Any]) -> int:
    state, last = status.get("state", {}), status.get("lastState", {})
    down = "running" not in state and ("terminated" in state or "terminated" in last)
    return int(status.get("restartCount", 0)) + down


def enforced(pod: Mapping[str, Any], container: str) -> dict[Resource, float]:
    """The limits in force for a container, as the kubelet reports them, in cores and bytes."""
    statuses = pod.get("status", {}).get("containerStatuses", [])
    found: Json = next((one for one in statuses if one["name"] == container), {})
    return amounts(found.get("resources", {}).get("limits", {}))
