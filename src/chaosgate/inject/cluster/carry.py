"""Carry out what a fault of the cluster does in one window."""

from __future__ import annotations

from collections.abc import Sequence

from chaosgate.inject.cluster import limits, nodes, pods, policy, replicas
from chaosgate.inject.cluster.scene import Proof, Scene
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


def carry_out(scene: Scene, changes: Sequence[Change]) -> int:
    """How many objects were changed, each as the API server shows it afterwards. A ClusterError ends the rest."""
    proofs = [_carry_out(scene, change) for change in changes]
    return sum(proof() for proof in proofs)


def _carry_out(scene: Scene, change: Change) -> Proof:
    match change:
        case DeletePod():
            return pods.delete(scene, change)
        case KillContainer():
            return pods.kill(scene, change)
        case SetLimit():
            return limits.cut(scene, change)
        case Scale():
            return replicas.take(scene, change)
        case Taint():
            return nodes.taint(scene, change)
        case Cordon():
            return nodes.cordon(scene, change)
        case BlockIngress():
            return policy.block(scene, change)
