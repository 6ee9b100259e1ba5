"""A NetworkPolicy that keeps the run's gateway away from pods."""

from __future__ import annotations

from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.cluster.names import (
    FAULT_ROLE,
    HIT_LABEL,
    ROLE_LABEL,
    RUN_LABEL,
    hit_selector,
    labels,
    object_name,
    selector,
)
from chaosgate.inject.cluster.notes import UNMARKED
from chaosgate.inject.cluster.scene import Proof, Scene, noted
from chaosgate.model.change import BlockIngress

Json = dict[str, Any]

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that Kubernetes gives every namespace."""
GATEWAY = "gateway"


def block(scene: Scene, change: BlockIngress) -> Proof:
    """How many pods the policy is about, as the API server says once it holds both."""
    for name in change.pods:
        scene.untouched("Pod", name)
        scene.cluster.patch(
            "Pod", name, {"metadata": noted(scene, "block", {}, {}).marked()}, namespace=scene.namespace
        )
    scene.cluster.create(manifest(scene))
    return lambda: _blocked(scene)


def _blocked(scene: Scene) -> int:
    name = object_name(scene.run, scene.fault)
    there = scene.cluster.get("NetworkPolicy", name, scene.namespace) is not None
    return len(scene.cluster.select("Pod", hit_selector(scene.run), scene.namespace)) if there else 0


def manifest(scene: Scene) -> Json:
    """The policy: whoever is not the run's gateway gets in. Peers of one list are alternatives."""
    others: tuple[Json, ...] = (
        {"namespaceSelector": _unlike(NAMESPACE_NAME, scene.cluster.namespace)},
        {"namespaceSelector": {}, "podSelector": _unlike(ROLE_LABEL, GATEWAY)},
        {"namespaceSelector": {}, "podSelector": _unlike(RUN_LABEL, scene.run)},
    )
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {
            "name": object_name(scene.run, scene.fault),
            "namespace": scene.namespace,
            "labels": labels(scene.run, FAULT_ROLE),
        },
        "spec": {
            "podSelector": {"matchLabels": {HIT_LABEL: scene.run}},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": list(others)}],
        },
    }


def _unlike(key: str, value: str) -> Json:
    return {"matchExpressions": [{"key": key, "operator": "NotIn", "values": [value]}]}


def lift(cluster: Cluster, run: str, namespace: str) -> list[str]:
    """Delete the policies of the run's faults; what was done, in words."""
    found = cluster.select("NetworkPolicy", selector(run, FAULT_ROLE), namespace)
    names = [str(policy["metadata"]["name"]) for policy in found]
    for name in names:
        cluster.delete("NetworkPolicy", name, namespace=namespace)
    return [f"removed NetworkPolicy {name}" for name in names]


def restore(cluster: Cluster, pod: Json) -> str:
    """Take the note off a pod that a policy was about; what was done, in words."""
    name = pod["metadata"]["name"]
    cluster.patch("Pod", name, {"metadata": UNMARKED}, namespace=pod["metadata"]["namespace"])
    return f"opened pod {name}"
