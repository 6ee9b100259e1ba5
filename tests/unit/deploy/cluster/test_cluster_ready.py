"""Waiting for a server, and what is said of one that does not come up."""

from __future__ import annotations

from typing import Any

import pytest
from fake_cluster import FakeCluster

from chaosgate.deploy.cluster import ready
from chaosgate.deploy.cluster.ready import CRASHES, REFUSED_SECONDS, wait_ready, wait_serving
from chaosgate.errors import DeployError

Json = dict[str, Any]
SELECTOR = "app=engine"
QUOTA = 'pods "engine-1-x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2'


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes only while somebody sleeps."""
    now = [0.0]
    monkeypatch.setattr(ready.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(ready.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))


def deployment(**status: Any) -> Json:
    """A Deployment of two replicas."""
    metadata = {"name": "engine", "generation": 2}
    return {"kind": "Deployment", "metadata": metadata, "spec": {"replicas": 2}, "status": status}


def pod(name: str = "engine-1", phase: str = "Pending", namespace: str = "chaos", **container: Any) -> Json:
    """A pod with one container."""
    states = [{"name": "engine", **container}] if container else []
    metadata = {"name": name, "namespace": namespace, "labels": {"app": "engine"}}
    return {"kind": "Pod", "metadata": metadata, "status": {"phase": phase, "containerStatuses": states}}


def event(name: str, about: str, message: str, **more: Any) -> Json:
    """A warning about an object."""
    found: Json = {"kind": "Event", "metadata": {"name": name}, "involvedObject": {"name": about}}
    return {**found, "type": "Warning", "reason": "Failed", "message": message, **more}


def said(cluster: FakeCluster, seconds: float = 300.0) -> str:
    """What waiting for the Deployment ends with."""
    with pytest.raises(DeployError) as error:
        wait_ready(cluster, "engine", SELECTOR, seconds)
    return str(error.value)


@pytest.mark.parametrize(
    "status",
    [
        {"observedGeneration": 1, "readyReplicas": 2, "updatedReplicas": 2},
        {"observedGeneration": 2, "readyReplicas": 1, "updatedReplicas": 2},
        {"observedGeneration": 2, "readyReplicas": 2, "updatedReplicas": 1},
        {},
    ],
)
def test_a_deployment_is_ready_when_every_replica_of_its_last_version_is(status: Json) -> None:
    assert said(FakeCluster("chaos", deployment(**status)), 1.0) == (
        "Deployment engine does not come up: it was not ready within 1 s; no pod was made"
    )
    whole = {"observedGeneration": 2, "readyReplicas": 2, "updatedReplicas": 2}
    wait_ready(FakeCluster("chaos", deployment(**whole)), "engine", SELECTOR, 1.0)


def test_a_deployment_that_somebody_deletes_is_not_waited_for() -> None:
    assert said(FakeCluster("chaos")) == "Deployment engine is gone: somebody deleted it while it started"


def test_an_image_that_cannot_be_pulled_is_given_up_at_once() -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "absent:1"'}}
    cluster = FakeCluster("chaos", deployment(), pod(state=waiting), event("e1", "engine-1", "not found"))
    reason = 'ImagePullBackOff: Back-off pulling image "absent:1"'
    assert said(cluster) == (
        f"Deployment engine does not come up: {reason}; pod engine-1 is Pending; {reason}; event Failed: not found"
    )


def test_a_container_that_prepares_the_pod_counts_too() -> None:
    found = pod()
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "no such host"}}
    found["status"]["initContainerStatuses"] = [{"name": "weights", "state": waiting}]
    assert "ErrImagePull: no such host" in said(FakeCluster("chaos", deployment(), found))


def test_a_server_that_crashes_again_and_again_is_given_up_with_its_last_words() -> None:
    back_off = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container"}}
    cluster = FakeCluster("chaos", deployment(), pod(phase="Running", restartCount=CRASHES, state=back_off))
    cluster.printed["engine-1"] = "loading\nno such model: tiny"
    assert said(cluster) == (
        f"Deployment engine does not come up: its container engine ended {CRASHES} times while it started; "
        "pod engine-1 is Running; CrashLoopBackOff: back-off 10s restarting failed container; "
        "log: loading | no such model: tiny"
    )


def test_one_crash_may_pass() -> None:
    crashed = pod(phase="Running", restartCount=CRASHES - 1, state={"running": {}})
    assert "it was not ready within 4 s" in said(FakeCluster("chaos", deployment(), crashed), 4.0)


def test_pods_that_a_quota_refuses_are_given_up_after_a_while() -> None:
    condition = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": QUOTA}
    cluster = FakeCluster("chaos", deployment(conditions=[condition]))
    assert said(cluster) == f"Deployment engine does not come up: its pods are refused; FailedCreate: {QUOTA}"
    assert REFUSED_SECONDS <= ready.time.monotonic() < REFUSED_SECONDS + 2


def test_the_last_warnings_are_told_in_their_order() -> None:
    times = {"a": "2026-01-01T00:00:04Z", "b": "2026-01-01T00:00:01Z", "c": "2026-01-01T00:00:03Z"}
    warnings = [event(name, "engine-1", name, lastTimestamp=time) for name, time in times.items()]
    warnings += [event("d", "engine-1", "d", lastTimestamp=None, eventTime="2026-01-01T00:00:02Z")]
    strangers = [event("e", "another", "no"), {**event("f", "engine-1", "no"), "type": "Normal"}]
    text = said(FakeCluster("chaos", deployment(), pod(), *warnings, *strangers), 1.0)
    assert text.endswith("pod engine-1 is Pending; event Failed: d; event Failed: c; event Failed: a")


def test_who_may_read_neither_events_nor_logs_hears_the_rest() -> None:
    cluster = FakeCluster("chaos", deployment(), pod())
    cluster.forbidden = {("list", "events"), ("get", "pods")}
    assert said(cluster, 1.0).endswith("it was not ready within 1 s; pod engine-1 is Pending")


def test_a_service_needs_one_pod_that_is_ready() -> None:
    ready_pod = pod("engine-2", "Running", "models")
    ready_pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    space = {"kind": "Namespace", "metadata": {"name": "models"}}
    wait_serving(FakeCluster("chaos", space, pod(namespace="models"), ready_pod), "web", "models", SELECTOR, 1.0)


@pytest.mark.parametrize(
    ("pods", "known"),
    [
        ((), "there is no pod with the labels app=engine"),
        ((pod(namespace="models"),), "pod engine-1 is Pending"),
    ],
)
def test_a_service_without_endpoints_is_told(pods: tuple[Json, ...], known: str) -> None:
    space = {"kind": "Namespace", "metadata": {"name": "models"}}
    with pytest.raises(DeployError) as error:
        wait_serving(FakeCluster("chaos", space, *pods), "web", "models", SELECTOR, 2.0)
    assert str(error.value) == (
        f"Service web in namespace models has no endpoints: none of its pods was ready within 2 s; {known}"
    )
