"""Why changes may not be made, beyond what safety rules say: a node is closed already, or carries the run itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chaosgate.cluster.names import TAINT
from chaosgate.cluster.targets import is_running
from chaosgate.inject.cluster.scene import Scene
from chaosgate.model.change import Change, Cordon, Taint, TargetPod

SHOWN = 3
"""Pods that are named where there are more of them."""


def objections(scene: Scene, changes: Sequence[Change], pods: Sequence[TargetPod]) -> Iterator[str]:
    """One sentence for each node that cannot be closed."""
    for change in changes:
        if isinstance(change, Cordon):
            yield from _cordoned(scene, change.node)
        if isinstance(change, Taint) and change.effect == "NoExecute":
            yield from _bystanders(scene, change.node, {pod.uid for pod in pods})


def _cordoned(scene: Scene, name: str) -> Iterator[str]:
    node = scene.cluster.get("Node", name)
    if node is not None and node["spec"].get("unschedulable"):
        yield f"{scene.fault}: node {name} is cordoned already, by somebody else; wait until it takes pods again"


def _bystanders(scene: Scene, node: str, hit: set[str]) -> Iterator[str]:
    """Pods of the run's namespace that would be evicted, too; its gateway and its steps may be among them."""
    others = sorted(
        str(pod["metadata"]["name"])
        for pod in scene.cluster.select("Pod")
        if pod["spec"].get("nodeName") == node
        and pod["metadata"]["uid"] not in hit
        and is_running(pod)
        and not tolerates(pod)
    )
    if others:
        shown = ", ".join(others[:SHOWN]) + (", ..." if len(others) > SHOWN else "")
        yield (
            f"{scene.fault}: a NoExecute taint on node {node} would evict {len(others)} other pods of the run's "
            f"namespace {scene.cluster.namespace}, too ({shown}); keep them on other nodes by carrier.nodeSelector, "
            "or write `effect: NoSchedule`"
        )


def tolerates(pod: Mapping[str, Any]) -> bool:
    """Whether a pod stays on a node that has a taint of a run."""
    tolerations = [one for one in pod["spec"].get("tolerations", []) if one.get("operator") == "Exists"]
    return any(one.get("key") in (None, "", TAINT) and one.get("effect") in (None, "NoExecute") for one in tolerations)
