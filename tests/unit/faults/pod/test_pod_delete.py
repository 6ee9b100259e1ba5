from __future__ import annotations

import pytest
from cluster_targets import cluster_fault, target_pods

from chaosgate.model.change import DeletePod


def test_pod_delete_takes_as_many_pods_as_its_dose_and_more_of_the_same_at_a_larger_one() -> None:
    fault, pods = cluster_fault("pod.delete", 1, 3, grace=0), target_pods()
    draw = fault.draw(7, "block1.4")

    few, many = (fault.changes(dose, pods, draw) for dose in (1, 3))

    assert len(few) == 1
    assert len(many) == 3
    assert list(many[:1]) == list(few)
    assert all(isinstance(change, DeletePod) and change.grace == 0 for change in many)
    assert {(change.pod, change.uid) for change in many} <= {(pod.name, pod.uid) for pod in pods}


def test_nothing_is_deleted_at_dose_0() -> None:
    fault = cluster_fault("pod.delete")
    assert list(fault.changes(0.0, target_pods(), fault.draw(7, "block1.0"))) == []


def test_more_pods_than_there_are_cannot_be_hit() -> None:
    assert cluster_fault("pod.delete").objections(3, target_pods(2)) == [
        "mine: 3 pods are to be hit, 2 are there; lower the dose or raise their number"
    ]
    assert cluster_fault("pod.delete").objections(2, target_pods(2)) == []


@pytest.mark.parametrize(("dose", "moved"), [(1, 0.5), (4, 2.0)])
def test_half_of_the_pods_must_be_seen_to_go(dose: int, moved: float) -> None:
    witness = cluster_fault("pod.delete").witness(dose)
    assert (witness.gauge, witness.statistic, witness.falls, witness.moved) == ("lost", "rise", False, moved)
