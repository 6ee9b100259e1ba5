from __future__ import annotations

from typing import Any

import pytest
from cluster_targets import RUN
from fake_cluster import FakeCluster

from chaosgate.errors import ClusterError
from chaosgate.inject.cluster.nodes import cordon, taint
from chaosgate.inject.cluster.scene import Scene
from chaosgate.inject.cluster.undo import Place, undo
from chaosgate.model.change import Cordon, Taint

NODES = (Place("Node", ""),)
GPU = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}


def spec(cluster: FakeCluster) -> dict[str, Any]:
    found: dict[str, Any] = (cluster.get("Node", "n0") or {})["spec"]
    return found


def test_a_taint_carries_the_run_and_goes_without_the_others(cluster: FakeCluster, scene: Scene) -> None:
    cluster.patch("Node", "n0", {"spec": {"taints": [GPU]}})

    assert taint(scene, Taint("n0", "NoSchedule"))() == 1
    assert spec(cluster)["taints"] == [GPU, {"key": "chaosgate/run", "value": RUN, "effect": "NoSchedule"}]

    assert undo(cluster, RUN, NODES) == (["took the taint off node n0"], [])
    assert spec(cluster)["taints"] == [GPU]
    assert undo(cluster, RUN, NODES) == ([], [])


def test_a_taint_that_somebody_else_put_there_meanwhile_stays(cluster: FakeCluster, scene: Scene) -> None:
    taint(scene, Taint("n0", "NoSchedule"))
    cluster.patch("Node", "n0", {"spec": {"taints": [*spec(cluster)["taints"], GPU]}})

    undo(cluster, RUN, NODES)

    assert spec(cluster)["taints"] == [GPU]


def test_a_cordon_comes_and_goes(cluster: FakeCluster, scene: Scene) -> None:
    assert cordon(scene, Cordon("n0"))() == 1
    assert spec(cluster)["unschedulable"] is True

    assert undo(cluster, RUN, NODES) == (["uncordoned node n0"], [])
    assert "unschedulable" not in spec(cluster)


def test_somebody_elses_cordon_is_not_taken_over(cluster: FakeCluster, scene: Scene) -> None:
    cluster.patch("Node", "n0", {"spec": {"unschedulable": True}})

    with pytest.raises(ClusterError) as refused:
        cordon(scene, Cordon("n0"))

    assert str(refused.value) == "node n0 is cordoned already, by somebody else; choose another target"
    assert undo(cluster, RUN, NODES) == ([], [])
    assert spec(cluster)["unschedulable"] is True


def test_a_node_that_was_uncordoned_meanwhile_is_left_open(cluster: FakeCluster, scene: Scene) -> None:
    cordon(scene, Cordon("n0"))
    cluster.patch("Node", "n0", {"spec": {"unschedulable": None}})

    assert undo(cluster, RUN, NODES) == (["node n0 was uncordoned by somebody else"], [])
