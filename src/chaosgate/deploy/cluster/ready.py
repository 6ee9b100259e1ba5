"""Wait until a run's pods serve, and say why they do not: the pods' own state, their events, their last words."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.errors import ClusterError, DeployError, one_line

POLL = 0.5
"""Seconds between two looks."""
HOPELESS = ("ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError", "ErrImagePull", "ImagePullBackOff")
"""Reasons a container waits for that no waiting mends."""
LAST_LINES = 5
LAST_EVENTS = 3

Json = Mapping[str, Any]


def wait_ready(cluster: Cluster, name: str, selector: str, seconds: float) -> None:
    """Return once every replica of the Deployment `name` is ready; a DeployError tells what keeps it from that."""
    deadline = time.monotonic() + seconds
    while True:
        found = cluster.get("Deployment", name)
        if found is None:
            raise DeployError(f"Deployment {name} is gone: somebody deleted it while it started")
        if is_ready(found):
            return
        pods = cluster.select("Pod", selector)
        hopeless = next((reason for pod in pods for reason in waiting(pod) if reason.startswith(HOPELESS)), None)
        if hopeless is not None or time.monotonic() > deadline:
            why = hopeless or f"it was not ready within {seconds:.0f} s"
            raise DeployError(f"Deployment {name} does not come up: {why}; {'; '.join(details(cluster, pods))}")
        time.sleep(POLL)


def wait_reachable(host: str, port: int, seconds: float) -> None:
    """Return once a connection to `host` can be made; a DeployError after `seconds`, with what stands in the way."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with socket.create_connection((host, port), timeout=POLL):
                return
        except OSError as error:
            if time.monotonic() > deadline:
                raise DeployError(
                    f"{host}:{port} cannot be reached within {seconds:.0f} s though its pods are ready: {error}; "
                    "look at the cluster's DNS and at its NetworkPolicies"
                ) from error
        time.sleep(POLL)


def is_ready(deployment: Json) -> bool:
    """Whether all replicas are ready, of the version that was asked for."""
    status = deployment.get("status", {})
    wanted = deployment["spec"]["replicas"]
    current = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    return bool(current and status.get("readyReplicas", 0) >= wanted and status.get("updatedReplicas", 0) >= wanted)


def waiting(pod: Json) -> Iterator[str]:
    """Why the containers of a pod do not run, such as `ImagePullBackOff: ...`."""
    for status in pod.get("status", {}).get("containerStatuses", []):
        found = status.get("state", {}).get("waiting")
        if found:
            yield one_line(f"{found.get('reason')}: {found.get('message', 'no message')}")


def details(cluster: Cluster, pods: list[dict[str, Any]]) -> Iterator[str]:
    """What is known of each pod."""
    if not pods:
        yield "no pod was made; look at the ReplicaSet's events (quota, admission, service account)"
    for pod in pods:
        name = pod["metadata"]["name"]
        yield f"pod {name} is {pod.get('status', {}).get('phase', 'unknown')}"
        yield from waiting(pod)
        yield from events(cluster, name)
        yield from last_words(cluster, name)


def events(cluster: Cluster, name: str) -> Iterator[str]:
    """The last warnings about an object."""
    try:
        found = cluster.select("Event")
    except ClusterError:
        # Who may not read events still hears everything else.
        return
    warnings = [one for one in found if one["involvedObject"].get("name") == name and one.get("type") == "Warning"]
    for one in warnings[-LAST_EVENTS:]:
        yield one_line(f"event {one.get('reason')}: {one.get('message')}")


def last_words(cluster: Cluster, pod: str) -> Iterator[str]:
    """The end of a pod's log; of the container before, where one has just been restarted."""
    for previous in (False, True):
        try:
            text = cluster.logs(pod, lines=LAST_LINES, previous=previous)
        except ClusterError:
            continue
        if text.strip():
            yield "log: " + " | ".join(map(one_line, text.strip().splitlines()))
            return
