"""Nodes that take no new pods."""

from __future__ import annotations

from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.cluster.names import TAINT
from chaosgate.errors import ClusterError
from chaosgate.inject.cluster.notes import UNMARKED, Note, version_of
from chaosgate.inject.cluster.scene import Proof, Scene, noted, once_more
from chaosgate.model.change import Cordon, Taint

Json = dict[str, Any]


def taint(scene: Scene, change: Taint) -> Proof:
    """1 once the node has the taint."""
    return once_more(lambda: _taint(scene, change))


def _taint(scene: Scene, change: Taint) -> Proof:
    node = scene.untouched("Node", change.node)
    mine = {"key": TAINT, "value": scene.run, "effect": change.effect}
    note = noted(scene, "taint", {}, {"effect": change.effect})
    _patch(scene.cluster, node, note.marked(), {"taints": [*others(node, scene.run), mine]})
    return lambda: int(mine in taints(scene.must_get("Node", change.node)))


def cordon(scene: Scene, change: Cordon) -> Proof:
    """1 once the node takes no new pods; a ClusterError for one that did not before, which is somebody else's."""
    return once_more(lambda: _cordon(scene, change))


def _cordon(scene: Scene, change: Cordon) -> Proof:
    node = scene.untouched("Node", change.node)
    if node["spec"].get("unschedulable"):
        raise ClusterError(f"node {change.node} is cordoned already, by somebody else; choose another target")
    note = noted(scene, "cordon", {"unschedulable": False}, {"unschedulable": True})
    _patch(scene.cluster, node, note.marked(), {"unschedulable": True})
    return lambda: int(scene.must_get("Node", change.node)["spec"].get("unschedulable", False))


def restore(cluster: Cluster, node: Json, note: Note) -> str:
    """Take this run's taint or cordon off a node; what was done, in words."""
    name = node["metadata"]["name"]
    if note.change == "taint":
        _patch(cluster, node, UNMARKED, {"taints": others(node, note.run)})
        return f"took the taint off node {name}"
    found = bool(node["spec"].get("unschedulable"))
    _patch(cluster, node, UNMARKED, {"unschedulable": None} if found else {})
    return f"uncordoned node {name}" if found else f"node {name} was uncordoned by somebody else"


def taints(node: Json) -> list[Json]:
    """The taints of a node as they were put there; when a NoExecute one was is left out."""
    found = node["spec"].get("taints") or []
    return [{key: value for key, value in one.items() if key != "timeAdded"} for one in found]


def others(node: Json, run: str) -> list[Json]:
    """The taints of a node that are not of this run."""
    found = node["spec"].get("taints") or []
    return [one for one in found if (one["key"], one.get("value")) != (TAINT, run)]


def _patch(cluster: Cluster, node: Json, marks: Json, spec: Json) -> None:
    body = {"metadata": {**marks, **version_of(node)}, "spec": spec}
    cluster.patch("Node", node["metadata"]["name"], body)
