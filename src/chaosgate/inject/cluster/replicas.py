"""Replicas of Deployments."""

from __future__ import annotations

from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.inject.cluster.notes import UNMARKED, Note, version_of
from chaosgate.inject.cluster.scene import Proof, Scene, noted, once_more
from chaosgate.model.change import Scale

Json = dict[str, Any]


def take(scene: Scene, change: Scale) -> Proof:
    """How many replicas the Deployment is to have less, as the API server says."""
    return once_more(lambda: _take(scene, change))


def _take(scene: Scene, change: Scale) -> Proof:
    found = scene.untouched("Deployment", change.deployment)
    before = int(found["spec"].get("replicas", 1))
    put = max(0, before - change.fewer)
    note = noted(scene, "scale", {"replicas": before}, {"replicas": put})
    body = {"metadata": {**note.marked(), **version_of(found)}, "spec": {"replicas": put}}
    scene.cluster.patch("Deployment", change.deployment, body, namespace=scene.namespace)
    return lambda: before - put if _replicas(scene, change.deployment) == put else 0


def _replicas(scene: Scene, deployment: str) -> int:
    return int(scene.must_get("Deployment", deployment)["spec"].get("replicas", 1))


def restore(cluster: Cluster, deployment: Json, note: Note) -> str:
    """Scale back up, unless somebody else has scaled since; what was done, in words."""
    name, namespace = deployment["metadata"]["name"], deployment["metadata"]["namespace"]
    found, put, before = deployment["spec"].get("replicas"), note.put["replicas"], note.before["replicas"]
    body: Json = {"metadata": {**UNMARKED, **version_of(deployment)}}
    if found == put:
        body["spec"] = {"replicas": before}
        said = f"scaled Deployment {name} back to {before} replicas"
    else:
        said = f"left alone Deployment {name}: it has {found} replicas, which somebody else has set"
    cluster.patch("Deployment", name, body, namespace=namespace)
    return said
