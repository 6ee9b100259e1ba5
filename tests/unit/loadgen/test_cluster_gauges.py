"""What is read of a target each second: pods that go, containers that die, limits that change, nodes that close."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_targets import RUN, cluster_fault, engine_deployment, engine_pod
from fake_cluster import FakeCluster, node, pod

from chaosgate.errors import ClusterError
from chaosgate.loadgen.cluster_gauges import TargetWatch
from chaosgate.model.fault import ClusterTarget

OWN = ClusterTarget(namespace="chaos", labels={"chaosgate/run": RUN, "chaosgate/role": "engine"})


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster("chaos", engine_pod("a"), engine_pod("b"), pod("stranger"), engine_deployment(), node("n0"))


def gauges(watch: TargetWatch) -> dict[str, float]:
    return {name.removeprefix("k8s:mine:"): value for name, value in watch.read().items()}


def watch_of(cluster: FakeCluster, kind: str = "pod.delete", **fields: Any) -> TargetWatch:
    return TargetWatch(cluster, cluster_fault(kind, **fields), OWN)


def test_a_target_that_is_whole(cluster: FakeCluster) -> None:
    assert watch_of(cluster).read() == {
        "k8s:mine:ready": 2.0,
        "k8s:mine:lost": 0.0,
        "k8s:mine:deaths": 0.0,
        "k8s:mine:endpoints": 0.0,
        "k8s:mine:cpu": 1.0,
    }


def test_a_pod_that_goes_is_lost_at_once_and_stays_so_when_another_comes(cluster: FakeCluster) -> None:
    watch = watch_of(cluster)
    watch.read()
    going = engine_pod("a")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    cluster.put(going, engine_pod("c", ready=False))

    found = gauges(watch)
    assert (found["ready"], found["lost"]) == (1.0, 1.0)

    cluster.delete("Pod", "a")
    cluster.put(engine_pod("c"))
    found = gauges(watch)
    assert (found["ready"], found["lost"]) == (2.0, 1.0)


def test_deaths_are_counted_and_not_forgotten_with_their_pod(cluster: FakeCluster) -> None:
    watch = watch_of(cluster)
    watch.read()
    cluster.put(engine_pod("a", restartCount=2))
    assert gauges(watch)["deaths"] == 2.0

    cluster.delete("Pod", "a")
    assert gauges(watch)["deaths"] == 2.0


def test_a_limit_is_told_as_a_share_of_what_it_was_first(cluster: FakeCluster) -> None:
    watch = watch_of(cluster)
    watch.read()
    cluster.put(engine_pod("a", resources={"limits": {"cpu": "500m"}}))
    assert gauges(watch)["cpu"] == pytest.approx((0.25 + 1) / 2)


def test_pods_without_a_limit_have_no_such_gauge() -> None:
    assert "cpu" not in gauges(watch_of(FakeCluster("chaos", engine_pod("a", limit=None))))


def test_a_pod_whose_kubelet_reports_its_limit_later_counts_from_then_on(cluster: FakeCluster) -> None:
    cluster.put(engine_pod("a", resources={}))
    watch = watch_of(cluster)
    assert gauges(watch)["cpu"] == 1.0
    cluster.put(engine_pod("a"))
    assert gauges(watch)["cpu"] == 1.0


def test_endpoints_are_counted_once_though_two_services_lead_there(cluster: FakeCluster) -> None:
    ready, gone = ({"targetRef": {"uid": f"uid-{name}"}, "conditions": {"ready": name == "a"}} for name in "ab")
    for name in ("one", "other"):
        cluster.put({"kind": "EndpointSlice", "metadata": {"name": name}, "endpoints": [ready, gone]})
    assert gauges(watch_of(cluster))["endpoints"] == 1.0


def test_only_a_fault_that_changes_them_reads_deployments_and_nodes(cluster: FakeCluster) -> None:
    tainted = node("n0", unschedulable=True)
    tainted["spec"]["taints"] = [{"key": "chaosgate/run", "value": RUN, "effect": "NoSchedule"}]
    cluster.put(tainted, node("n9", unschedulable=True))

    assert gauges(watch_of(cluster, "deployment.replica-loss"))["replicas"] == 2.0
    found = gauges(watch_of(cluster, "node.cordon"))
    assert (found["unschedulable"], found["tainted"]) == (1.0, 1.0)
    assert not {"replicas", "unschedulable", "tainted"} & gauges(watch_of(cluster)).keys()


def test_an_account_that_may_not_look_says_so(cluster: FakeCluster) -> None:
    cluster.forbidden.add(("list", "pods"))
    with pytest.raises(ClusterError, match="refused with 403"):
        watch_of(cluster).read()
