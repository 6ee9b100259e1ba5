"""Wait until a run's pods serve, and say why they do not: the pods' own state, their events, their last words."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chaosgate.cluster import targets
from chaosgate.cluster.api import Cluster
from chaosgate.errors import ClusterError, DeployError, one_line

POLL = 0.5
"""Seconds between two looks."""
HOPELESS = ("ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError", "ErrImagePull", "ImagePullBackOff")
"""Reasons a container waits for that no waiting mends."""
CRASHES = 2
"""Restarts after which a container that does not get ready is given up: Kubernetes then waits longer each time."""
REFUSED_SECONDS = 30.0
"""Pods that the API server refuses are given up after so long: what fills a quota may just be ending."""
LAST_LINES = 5
LAST_EVENTS = 3

Json = Mapping[str, Any]


def wait_ready(cluster: Cluster, name: str, selector: str, seconds: float) -> None:
    """Return once every replica of the Deployment `name` is ready; a DeployError tells what keeps it from that."""
    begun = time.monotonic()
    while True:
        found = cluster.get("Deployment", name)
        if found is None:
            raise DeployError(f"Deployment {name} is gone: somebody deleted it while it started")
        if is_ready(found):
            return
        pods = cluster.select("Pod", selector)
        passed = time.monotonic() - begun
        why = next(hopeless(found, pods, passed), None)
        if why is None and passed > seconds:
            why = f"it was not ready within {seconds:.0f} s"
        if why is not None:
            known = "; ".join([*refused(found), *details(cluster, pods)]) or "no pod was made"
            raise DeployError(f"Deployment {name} does not come up: {why}; {known}")
        time.sleep(POLL)


def wait_serving(cluster: Cluster, service: str, namespace: str, selector: str, seconds: float) -> None:
    """Return once a pod behind an existing Service is ready; a DeployError after `seconds` tells what is known of them.

    Without such a pod the Service has no endpoints, and refuses every connection.
    """
    deadline = time.monotonic() + seconds
    while True:
        pods = cluster.select("Pod", selector, namespace)
        if any(map(targets.is_ready, pods)):
            return
        if time.monotonic() > deadline:
            known = "; ".join(details(cluster, pods, namespace)) or f"there is no pod with the labels {selector}"
            raise DeployError(
                f"Service {service} in namespace {namespace} has no endpoints: none of its pods was ready within "
                f"{seconds:.0f} s; {known}"
            )
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


def hopeless(deployment: Json, pods: Sequence[Json], passed: float) -> Iterator[str]:
    """Why waiting on does not help, `passed` seconds after the Deployment was made; nothing while it may."""
    for pod in pods:
        yield from (reason for reason in waiting(pod) if reason.startswith(HOPELESS))
        for status in statuses(pod):
            if status.get("restartCount", 0) >= CRASHES:
                yield f"its container {status['name']} ended {status['restartCount']} times while it started"
    if not pods and passed > REFUSED_SECONDS and any(refused(deployment)):
        yield "its pods are refused"


def refused(deployment: Json) -> Iterator[str]:
    """Why no pod could be made, in the API server's words: a quota, an admission rule, a missing account."""
    for condition in deployment.get("status", {}).get("conditions", []):
        if condition["type"] == "ReplicaFailure" and condition["status"] == "True":
            yield one_line(f"{condition.get('reason')}: {condition.get('message', 'no message')}")


def statuses(pod: Json) -> list[Json]:
    """The state of each container of a pod, those that prepare it too."""
    found = pod.get("status", {})
    return [*found.get("initContainerStatuses", []), *found.get("containerStatuses", [])]


def waiting(pod: Json) -> Iterator[str]:
    """Why the containers of a pod do not run, such as `ImagePullBackOff: ...`."""
    for status in statuses(pod):
        found = status.get("state", {}).get("waiting")
        if found:
            yield one_line(f"{found.get('reason')}: {found.get('message', 'no message')}")


def details(cluster: Cluster, pods: Sequence[Json], namespace: str | None = None) -> Iterator[str]:
    """What is known of each pod."""
    for pod in pods:
        name = pod["metadata"]["name"]
        yield f"pod {name} is {pod.get('status', {}).get('phase', 'unknown')}"
        yield from waiting(pod)
        yield from events(cluster, name, namespace)
        yield from last_words(cluster, name, namespace)


def events(cluster: Cluster, name: str, namespace: str | None = None) -> Iterator[str]:
    """The last warnings about an object."""
    try:
        found = cluster.select("Event", namespace=namespace)
    except ClusterError:
        # Who may not read events still hears everything else.
        return
    warnings = [one for one in found if one["involvedObject"].get("name") == name and one.get("type") == "Warning"]
    for one in sorted(warnings, key=last_seen)[-LAST_EVENTS:]:
        yield one_line(f"event {one.get('reason')}: {one.get('message')}")


def last_seen(event: Json) -> str:
    """When an event happened last; whoever writes events fills in one of these, RFC 3339 in UTC."""
    return str(event.get("lastTimestamp") or event.get("eventTime") or "")


def last_words(cluster: Cluster, pod: str, namespace: str | None = None) -> Iterator[str]:
    """The end of a pod's log; of the container before, where one has just been restarted."""
    for previous in (False, True):
        try:
            text = cluster.logs(pod, lines=LAST_LINES, previous=previous, namespace=namespace)
        except ClusterError:
            continue
        if text.strip():
            yield "log: " + " | ".join(map(one_line, text.strip().splitlines()))
            return
