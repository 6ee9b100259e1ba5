from __future__ import annotations

from typing import Any

import pytest
from cluster_targets import RUN, cluster_fault, engine_pod
from fake_cluster import FakeCluster, pod

from chaosgate.cluster.targets import as_target, deaths, deployment_of, enforced, find_pods, is_ready, target_of
from chaosgate.errors import ClusterError
from chaosgate.model.fault import ClusterTarget

OWN = ClusterTarget(namespace="chaos", labels={"chaosgate/run": RUN, "chaosgate/role": "engine"})


def test_a_fault_means_the_pods_of_its_run_unless_it_says_otherwise() -> None:
    assert target_of(cluster_fault("pod.delete"), OWN) == OWN
    other = cluster_fault("pod.delete", target={"labels": {"app": "llm"}})
    assert target_of(other, OWN) == ClusterTarget(namespace="chaos", labels={"app": "llm"})
    elsewhere = cluster_fault("pod.delete", target={"labels": {"app": "llm"}, "namespace": "serving"})
    assert target_of(elsewhere, OWN) == ClusterTarget(namespace="serving", labels={"app": "llm"})


@pytest.mark.parametrize(("target", "default"), [({}, None), ({"namespace": "serving"}, OWN), ({}, ClusterTarget())])
def test_without_labels_nothing_is_meant(target: dict[str, Any], default: ClusterTarget | None) -> None:
    with pytest.raises(ClusterError) as refused:
        target_of(cluster_fault("pod.delete", target=target), default)
    assert str(refused.value) == (
        "mine: nothing says which pods it may hit; write target: {labels: ...} with the labels they have"
    )


def test_pods_that_run_and_stay_are_found_in_the_order_of_their_names() -> None:
    going, pending = engine_pod("c"), engine_pod("d")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    pending["status"]["phase"] = "Pending"
    cluster = FakeCluster("chaos", engine_pod("b"), engine_pod("a"), going, pending, pod("stranger"))

    assert [one["metadata"]["name"] for one in find_pods(cluster, OWN)] == ["a", "b"]


def test_a_pod_on_its_way_out_is_not_ready() -> None:
    going = engine_pod("a")
    assert is_ready(going)
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert not is_ready(going)
    assert not is_ready(engine_pod("b", ready=False))


def test_what_a_fault_needs_to_know_of_a_pod() -> None:
    found = as_target(engine_pod("a"), cluster_fault("pod.cpu-limit"))

    assert (found.name, found.uid, found.node, found.deployment) == ("a", "uid-a", "n0", "engine")
    assert (found.container, found.limits, found.requests) == ("engine", {"cpu": 2.0}, {"cpu": 0.1})


def test_a_container_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ClusterError) as refused:
        as_target(engine_pod("a"), cluster_fault("container.kill", container="vllm"))
    assert str(refused.value) == "pod a has no container 'vllm'; it has engine"


def test_a_pod_of_no_deployment_belongs_to_none() -> None:
    lone, of_a_set = pod("lone"), engine_pod("a")
    of_a_set["metadata"]["ownerReferences"] = [{"kind": "StatefulSet", "name": "engine-5d9c"}]
    assert deployment_of(lone) is None
    assert deployment_of(of_a_set) is None


@pytest.mark.parametrize(
    ("status", "count"),
    [
        ({"restartCount": 0, "state": {"running": {}}}, 0),
        ({"restartCount": 2, "state": {"running": {}}, "lastState": {"terminated": {}}}, 2),
        ({"restartCount": 1, "state": {"terminated": {}}}, 2),
        ({"restartCount": 1, "state": {"waiting": {}}, "lastState": {"terminated": {}}}, 2),
        ({"restartCount": 0, "state": {"waiting": {}}}, 0),
    ],
    ids=["runs", "was restarted", "has just died", "waits to be restarted", "has not started"],
)
def test_a_container_that_waits_to_be_restarted_has_died(status: dict[str, Any], count: int) -> None:
    assert deaths({"status": {"containerStatuses": [status]}}) == count


def test_the_limit_in_force_is_the_kubelets_and_not_that_of_the_spec() -> None:
    resized = engine_pod("a", resources={"limits": {"cpu": "500m", "memory": "1Gi"}})
    assert enforced(resized, "engine") == {"cpu": 0.5, "memory": 2.0**30}
    assert enforced(resized, "another") == {}
