"""Limits of running containers, changed in place (the `resize` subresource of pods, Kubernetes 1.33 and later)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from chaosgate.cluster.api import STRATEGIC, Cluster, Missing
from chaosgate.cluster.quantity import format_quantity, parse_quantity
from chaosgate.cluster.targets import enforced, main_container
from chaosgate.errors import ClusterError
from chaosgate.inject.cluster.notes import UNMARKED, Note
from chaosgate.inject.cluster.scene import Proof, Scene, noted, refuse_noted, shows
from chaosgate.model.change import Resource, SetLimit

Json = dict[str, Any]


def cut(scene: Scene, change: SetLimit) -> Proof:
    """1 once the kubelet reports the new limit, 0 where it does not, or the pod was gone before."""
    pod = scene.pod(change.pod, change.uid)
    if pod is None:
        return lambda: 0
    refuse_noted(pod)
    before = {"container": change.container, "resource": change.resource}
    before |= written(pod, change.container, change.resource)
    put = {**before, **lowered(before, change)}
    note = noted(scene, "limit", before, put)
    scene.cluster.patch("Pod", change.pod, {"metadata": note.marked()}, namespace=scene.namespace)
    resize(scene.cluster, pod, put)
    return lambda: int(shows(lambda: in_force(scene.cluster, pod, put)))


def give_back(cluster: Cluster, pod: Json, note: Note) -> bool:
    """Ask for the limit that was there, unless somebody else has changed it since; whether it is on its way back."""
    found = written(pod, note.before["container"], note.before["resource"])
    if same(found, note.before):
        return True
    if not same(found, note.put):
        return False
    resize(cluster, pod, note.before)
    return True


def restore(cluster: Cluster, pod: Json, note: Note) -> str:
    """Wait until a pod has its limit back and take the note away; what was done, in words.

    A ClusterError when the kubelet does not report the old limit in time: the note stays.
    """
    name, limit = pod["metadata"]["name"], note.before["limit"]
    words = f"{note.before['resource']} limit of pod {name}"
    if not give_back(cluster, pod, note):
        said = f"left alone the {words}: somebody else has changed it"
    elif shows(lambda: in_force(cluster, pod, note.before)):
        said = f"gave back the {words}: {limit}"
    else:
        raise ClusterError(f"the {words} was to go back to {limit}; its kubelet does not report that")
    cluster.patch("Pod", name, {"metadata": UNMARKED}, namespace=pod["metadata"]["namespace"])
    return said


def written(pod: Json, container: str, resource: str) -> Json:
    """`limit` and `request` of a container as the pod's spec has them; what it lacks is left out."""
    resources = main_container(pod, container).get("resources", {})
    pairs = (("limit", resources.get("limits", {})), ("request", resources.get("requests", {})))
    return {key: quantities[resource] for key, quantities in pairs if resource in quantities}


def lowered(before: Mapping[str, str], change: SetLimit) -> Json:
    """The new limit, and a request that is not above it, for that would be refused."""
    limit = format_quantity(change.limit, change.resource)
    request = before.get("request")
    if request is None:
        return {"limit": limit}
    return {"limit": limit, "request": request if parse_quantity(request) <= parse_quantity(limit) else limit}


def same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether both say the same of limit and request, however they are written."""
    return all(_amount(one.get(key)) == _amount(other.get(key)) for key in ("limit", "request"))


def _amount(quantity: str | None) -> float | None:
    return None if quantity is None else parse_quantity(quantity)


def resize(cluster: Cluster, pod: Json, wanted: Mapping[str, str]) -> None:
    """Ask for limit and request of a running container."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    resource = wanted["resource"]
    resources = {"limits": {resource: wanted["limit"]}}
    if "request" in wanted:
        resources["requests"] = {resource: wanted["request"]}
    body = {"spec": {"containers": [{"name": wanted["container"], "resources": resources}]}}
    try:
        cluster.patch("Pod", name, body, namespace=namespace, subresource="resize", content_type=STRATEGIC)
    except Missing as error:
        raise ClusterError(
            f"pod {name}: its limits cannot be changed while it runs; Kubernetes 1.33 or later is needed: {error}"
        ) from error


def in_force(cluster: Cluster, pod: Json, wanted: Mapping[str, str]) -> bool:
    """Whether the kubelet reports the limit; a pod that is gone has none that could be wrong."""
    metadata = pod["metadata"]
    found = cluster.get("Pod", metadata["name"], metadata["namespace"])
    if found is None or found["metadata"]["uid"] != metadata["uid"]:
        return True
    resource: Resource = wanted["resource"]  # type: ignore[assignment]
    limit = enforced(found, wanted["container"]).get(resource, math.nan)
    return math.isclose(limit, parse_quantity(wanted["limit"]), rel_tol=1e-6)
