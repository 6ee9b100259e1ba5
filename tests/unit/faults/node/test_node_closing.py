from __future__ import annotations

import pytest
from cluster_targets import cluster_fault, target_pods

from chaosgate.model.change import Change, Cordon, DeletePod, Taint

KINDS: list[tuple[str, type]] = [("node.cordon", Cordon), ("node.taint", Taint)]


@pytest.mark.parametrize(("kind", "change"), KINDS)
def test_nodes_of_the_target_are_closed_and_nobody_is_moved(kind: str, change: type[Change]) -> None:
    fault = cluster_fault(kind, 1, 2)
    draw = fault.draw(7, "block1.2")

    few, many = (list(fault.changes(dose, target_pods(), draw)) for dose in (1, 2))

    assert many[:1] == few
    assert all(isinstance(one, change) for one in many)
    assert sorted(one.node for one in many if isinstance(one, Cordon | Taint)) == ["n0", "n1"]
    assert list(fault.changes(0.0, target_pods(), draw)) == []


@pytest.mark.parametrize("kind", [kind for kind, _ in KINDS])
def test_with_evict_the_targets_own_pods_on_them_must_go(kind: str) -> None:
    fault = cluster_fault(kind, evict=True)

    closed, *moved = fault.changes(1, target_pods(), fault.draw(7, "block1.2"))

    assert isinstance(closed, Cordon | Taint)
    there = [pod.name for pod in target_pods() if pod.node == closed.node]
    assert [change.pod for change in moved if isinstance(change, DeletePod)] == there
    assert "delete" in {verb for need in fault.permissions() if need.resource == "pods" for verb in need.verbs}


def test_a_closed_node_alone_moves_nobody_and_the_witness_says_so() -> None:
    said = "pods that run already stay: write `evict: true` to have the target's own moved"
    assert cluster_fault("node.cordon").witness(1).unless == said
    assert cluster_fault("node.taint").witness(1).unless == said
    assert cluster_fault("node.cordon", evict=True).witness(1).unless == ""
    assert cluster_fault("node.taint", effect="NoExecute").witness(1).unless == "pods that tolerate the taint stay"


def test_nodes_are_changed_everywhere_and_not_in_a_namespace() -> None:
    (nodes,) = (need for need in cluster_fault("node.cordon").permissions() if need.resource == "nodes")
    assert not nodes.namespaced


def test_more_nodes_than_carry_the_target_cannot_be_closed() -> None:
    assert cluster_fault("node.taint").objections(3, target_pods(4, nodes=2)) == [
        "mine: 3 nodes are to be hit, 2 are there; lower the dose or raise their number"
    ]
