"""Which pods and nodes a change is about, and which labels a selector picks."""

from __future__ import annotations

from typing import Any

import pytest
from fake_cluster import node, pod

from chaosgate.deploy.cluster.safety import closed_nodes, hit_pods, selects, takes_pods
from chaosgate.model.change import (
    BlockIngress,
    Change,
    Cordon,
    DeletePod,
    KillContainer,
    Scale,
    SetLimit,
    Taint,
)


def owned(name: str, *, ready: bool = True) -> dict[str, Any]:
    """A pod of the Deployment `web` on a node of its own."""
    found = pod(name, "models", ready=ready, node=f"node-of-{name}", **{"pod-template-hash": "7f"})
    found["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "web-7f"}]
    return found


@pytest.mark.parametrize(
    ("change", "hit"),
    [
        (DeletePod("b", "uid-b", 0), ["b"]),
        (KillContainer("a", "uid-a", "engine", "TERM"), ["a"]),
        (SetLimit("c", "uid-c", "engine", "cpu", 0.1), ["c"]),
        (BlockIngress(("a", "c")), ["a", "c"]),
        (Scale("web", 2), ["b", "c"]),
        (Scale("web", 3), ["b", "c", "a"]),
        (Scale("other", 2), []),
        (Taint("node-of-b", "NoExecute"), ["b"]),
        (Taint("node-of-b", "NoSchedule"), []),
        (Cordon("node-of-b"), []),
        (DeletePod("gone", "uid-gone", 0), []),
    ],
)
def test_whom_each_change_hits(change: Change, hit: list[str]) -> None:
    # Which pods a Deployment gives up is not known: ready ones are the worse case.
    pods = {name: owned(name, ready=name != "a") for name in ("a", "b", "c")}

    assert hit_pods([change], pods) == hit
    assert closed_nodes([change]) == ([change.node] if isinstance(change, (Taint, Cordon)) else [])


def test_a_pod_that_two_changes_hit_is_one_pod() -> None:
    pods = {"b": owned("b")}

    assert hit_pods([Taint("node-of-b", "NoExecute"), DeletePod("b", "uid-b", None)], pods) == ["b"]


def test_a_tainted_node_takes_no_pods() -> None:
    closed = node("node-0")
    closed["spec"]["taints"] = [{"key": "a", "effect": "NoExecute"}]
    marked = node("node-1")
    marked["spec"]["taints"] = [{"key": "a", "effect": "PreferNoSchedule"}]

    assert (takes_pods(closed), takes_pods(marked)) == (False, True)


@pytest.mark.parametrize(
    ("selector", "picked"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        ({"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]}, False),
    ],
)
def test_label_selectors_as_kubernetes_reads_them(selector: dict[str, Any] | None, picked: bool) -> None:
    assert selects(selector, {"app": "web"}) is picked
