from __future__ import annotations

from dataclasses import replace

import pytest
from cluster_targets import cluster_fault, target_pods
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.faults.pod.limits import LimitCut
from chaosgate.model.change import SetLimit


@pytest.mark.parametrize(
    ("kind", "resource", "limit", "left"),
    [("pod.cpu-limit", "cpu", 2.0, 0.5), ("pod.memory-limit", "memory", 2**30, 2**28)],
)
def test_the_dose_is_the_share_of_the_limit_that_is_cut(kind: str, resource: str, limit: float, left: float) -> None:
    fault, pods = cluster_fault(kind), target_pods(1, limits={resource: limit})

    (change,) = fault.changes(0.75, pods, fault.draw(7, "block1.2"))

    assert change == SetLimit("engine-0", "uid-0", "engine", resource, left)


@given(st.integers(1, 12), st.sampled_from(["1 %", "30 %", "50 %", "100 %"]))
def test_a_share_of_the_pods_is_cut_and_one_at_least(count: int, share: str) -> None:
    fault = cluster_fault("pod.cpu-limit", share=share)
    cut = fault.changes(0.5, target_pods(count), fault.draw(7, "block1.2"))
    wanted = float(share.split()[0]) / 100 * count
    assert len(cut) == max(1, -(-round(wanted * 100) // 100))


def test_nothing_is_cut_at_dose_0() -> None:
    fault = cluster_fault("pod.cpu-limit")
    assert list(fault.changes(0.0, target_pods(), fault.draw(7, "block1.0"))) == []


def test_a_limit_that_is_not_there_cannot_be_cut() -> None:
    fault, (with_one, without) = cluster_fault("pod.cpu-limit"), target_pods(2)
    pods = [with_one, replace(without, limits={})]

    assert fault.objections(0.5, pods) == [
        "mine: container engine of pod engine-1 has no cpu limit to cut; set resources.limits.cpu where its pods are "
        "declared"
    ]
    assert [change.pod for change in fault.changes(0.5, pods, fault.draw(7, "block1.2"))] == ["engine-0"]
    assert fault.objections(0.5, []) == ["mine: there is no pod to cut; check the target's labels"]


def test_half_of_the_cut_must_show_in_the_mean_over_all_pods() -> None:
    fault = cluster_fault("pod.cpu-limit", share="50 %")
    assert isinstance(fault, LimitCut)
    witness = fault.witness(0.8)
    assert (witness.gauge, witness.falls) == ("cpu", True)
    assert witness.moved == pytest.approx(0.2)
