"""What a fault of the cluster owes besides: changes as data, of its own target only, that grow with the dose."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chaosgate.conformance.common import call, check_documented, require
from chaosgate.model.change import (
    BlockIngress,
    Change,
    Cordon,
    DeletePod,
    KillContainer,
    Permission,
    Scale,
    SetLimit,
    Taint,
    TargetPod,
)
from chaosgate.model.fault import ClusterFault

WINDOWS = 16
"""Windows whose draws are compared."""
VERBS = ("get", "list", "watch", "create", "patch", "update", "delete")
PODS = tuple(
    TargetPod(
        name=f"engine-{number}",
        uid=f"uid-{number}",
        container="engine",
        node=f"node-{number % 4}",
        deployment="engine",
        limits={"cpu": 2.0, "memory": 2.0**30},
        requests={"cpu": 0.1, "memory": 2.0**28},
    )
    for number in range(8)
)
"""A target of eight pods on four nodes."""
NEEDS: dict[type, tuple[tuple[str, str, str], ...]] = {
    DeletePod: (("", "pods", "delete"),),
    KillContainer: (("", "pods/exec", "get"), ("", "pods/exec", "create")),
    SetLimit: (("", "pods", "patch"), ("", "pods/resize", "patch")),
    Scale: (("apps", "deployments", "get"), ("apps", "deployments", "list"), ("apps", "deployments", "patch")),
    Taint: (("", "nodes", "get"), ("", "nodes", "list"), ("", "nodes", "patch")),
    Cordon: (("", "nodes", "get"), ("", "nodes", "list"), ("", "nodes", "patch")),
    BlockIngress: (
        ("", "pods", "patch"),
        *(("networking.k8s.io", "networkpolicies", verb) for verb in ("get", "list", "create", "delete")),
    ),
}
"""Group, resource and verb that each change takes to be made, and to be undone."""


def check_cluster_fault(fault: ClusterFault, doses: Sequence[float]) -> None:
    """Check `changes`, `objections` and `permissions` at ascending `doses`, of which the first is 0."""
    kind = type(fault)
    check_documented(kind, "changes", "objections", "permissions")
    for window in range(WINDOWS):
        row = [_changes(fault, dose, PODS, window) for dose in doses]
        again = [_changes(fault, dose, PODS, window) for dose in reversed(doses)][::-1]
        require(row == again, kind, f"changes of one window differ between calls: {row} and {again}; keep no state")
        _check_row(fault, doses, row)
    _check_order(fault, doses[-1])
    _check_permissions(fault, _changes(fault, doses[-1], PODS, 0))
    refused = call(kind, "objections() of no pods", lambda: fault.objections(doses[-1], ()))
    require(bool(refused), kind, "it has no objection to a target without pods, of which it could hit none")


def _changes(fault: ClusterFault, dose: float, pods: Sequence[TargetPod], window: int) -> list[Change]:
    draw = fault.draw(7, f"block1.{window}")
    return list(call(type(fault), f"changes({dose})", lambda: fault.changes(dose, pods, draw)))


def _check_row(fault: ClusterFault, doses: Sequence[float], row: Sequence[Sequence[Change]]) -> None:
    """One window over all doses: nothing at 0, its own target only, and once hit it stays hit, no less hard."""
    kind = type(fault)
    require(not row[0], kind, f"changes at dose 0 are {row[0]}; nothing may change there")
    require(bool(row[-1]), kind, f"nothing is changed at the largest dose {doses[-1]} of {len(PODS)} pods")
    before: dict[str, float] = {}
    for dose, changes in zip(doses, row, strict=True):
        hit: dict[str, float] = {}
        for change in changes:
            hit |= _strengths(fault, dose, change)
        weaker = sorted(name for name, strength in before.items() if hit.get(name, 0.0) < strength)
        require(
            not weaker,
            kind,
            f"{', '.join(weaker)} is hit less at dose {dose} than at a smaller one; no draw may depend on the dose",
        )
        before = hit


def _strengths(fault: ClusterFault, dose: float, change: Change) -> dict[str, float]:
    """What a change hits and how hard; a ConformanceError for what does not belong to the target."""
    own = {pod.name: pod.uid for pod in PODS}
    match change:
        case DeletePod(pod, uid) | KillContainer(pod, uid):
            found, strengths = own.get(pod) == uid, {f"pod {pod}": 1.0}
        case SetLimit(pod, uid, _, resource, limit):
            cut = next((1 - limit / one.limits[resource] for one in PODS if one.name == pod), math.nan)
            found, strengths = own.get(pod) == uid and 0 < cut < 1, {f"pod {pod}": cut}
        case Scale(deployment, fewer):
            found, strengths = deployment == "engine" and fewer > 0, {f"Deployment {deployment}": float(fewer)}
        case Taint(node) | Cordon(node):
            found, strengths = node in {pod.node for pod in PODS}, {f"node {node}": 1.0}
        case BlockIngress(pods):
            found, strengths = bool(pods) and set(pods) <= own.keys(), {f"pod {pod}": 1.0 for pod in pods}
        case _:
            found, strengths = False, {}
    require(
        found, type(fault), f"changes({dose}) gave {change}; only what is the target's is changed, and not for nothing"
    )
    return strengths


def _check_order(fault: ClusterFault, dose: float) -> None:
    """The API server lists pods in any order."""
    one, other = (_changes(fault, dose, pods, 0) for pods in (PODS, PODS[::-1]))
    same = {str(change) for change in one} == {str(change) for change in other}
    require(same, type(fault), f"changes depend on the order of the pods: {one} and {other}; sort them by name")


def _check_permissions(fault: ClusterFault, changes: Sequence[Change]) -> None:
    kind = type(fault)
    permissions = call(kind, "permissions()", fault.permissions)
    for need in permissions:
        sane = isinstance(need, Permission) and need.verbs and set(need.verbs) <= set(VERBS)
        require(bool(sane), kind, f"permissions() gave {need}; name a group, a resource and some of {', '.join(VERBS)}")
    allowed = {(need.group, need.resource, verb) for need in permissions for verb in need.verbs}
    for change in changes:
        lacking = sorted(f"{need[2]} {need[1]}" for need in NEEDS[type(change)] if need not in allowed)
        require(not lacking, kind, f"permissions() lacks {', '.join(lacking)}, which {type(change).__name__} takes")
