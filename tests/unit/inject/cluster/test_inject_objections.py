from __future__ import annotations

from cluster_targets import target_pods
from fake_cluster import FakeCluster, pod

from chaosgate.inject.cluster.objections import objections
from chaosgate.inject.cluster.scene import Scene
from chaosgate.model.change import Cordon, DeletePod, Taint, TargetPod

OWN = [TargetPod("engine-a", "uid-engine-a", "engine", "n0")]
EVICTING = Taint("n0", "NoExecute")


def test_a_node_that_is_cordoned_already_is_not_cordoned(cluster: FakeCluster, scene: Scene) -> None:
    cluster.patch("Node", "n0", {"spec": {"unschedulable": True}})
    assert list(objections(scene, [Cordon("n0"), Cordon("n1")], OWN)) == [
        "mine: node n0 is cordoned already, by somebody else; wait until it takes pods again"
    ]


def test_a_taint_that_evicts_the_run_itself_is_refused(cluster: FakeCluster, scene: Scene) -> None:
    cluster.put(*(pod(name, node="n0") for name in ("gateway", "inject", "measure", "sweeper")))
    assert list(objections(scene, [EVICTING], OWN)) == [
        "mine: a NoExecute taint on node n0 would evict 4 other pods of the run's namespace chaos, too (gateway, "
        "inject, measure, ...); keep them on other nodes by carrier.nodeSelector, or write `effect: NoSchedule`"
    ]
    assert list(objections(scene, [Taint("n0", "NoSchedule")], OWN)) == []


def test_pods_that_tolerate_it_or_run_elsewhere_do_not_count(cluster: FakeCluster, scene: Scene) -> None:
    tolerant = pod("daemon", node="n0")
    tolerant["spec"]["tolerations"] = [{"operator": "Exists"}]
    for_a_while = pod("patient", node="n0")
    for_a_while["spec"]["tolerations"] = [{"key": "chaosgate/run", "operator": "Exists", "effect": "NoExecute"}]
    cluster.put(tolerant, for_a_while, pod("elsewhere", node="n1"))
    assert list(objections(scene, [EVICTING], OWN)) == []


def test_a_toleration_of_something_else_keeps_nobody(cluster: FakeCluster, scene: Scene) -> None:
    other = pod("gateway", node="n0")
    other["spec"]["tolerations"] = [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]
    cluster.put(other)
    assert len(list(objections(scene, [EVICTING], OWN))) == 1


def test_changes_of_pods_alone_have_no_objection_here(scene: Scene) -> None:
    assert list(objections(scene, [DeletePod("engine-a", "uid-engine-a", None)], target_pods())) == []
