from __future__ import annotations

import pytest
from cluster_targets import cluster_fault, target_pods
from sli_samples import sample

from chaosgate.model.change import BlockIngress
from chaosgate.model.fault import Witness


def test_one_policy_is_about_all_pods_of_the_dose() -> None:
    fault, pods = cluster_fault("net.policy-block", 1, 2), target_pods()
    draw = fault.draw(7, "block1.2")

    (few,), (many,) = (fault.changes(dose, pods, draw) for dose in (1, 2))

    assert isinstance(few, BlockIngress)
    assert isinstance(many, BlockIngress)
    assert many.pods[:1] == few.pods
    assert list(fault.changes(0.0, pods, draw)) == []


@pytest.mark.parametrize(("outcome", "value"), [("ok", 0.0), ("error", 1.0), ("timeout", 1.0), ("refused", 1.0)])
def test_only_the_traffic_itself_shows_whether_a_policy_is_enforced(outcome: str, value: float) -> None:
    witness = cluster_fault("net.policy-block").witness(1)
    assert isinstance(witness, Witness)
    assert witness.value(sample(outcome=outcome).observation) == value
    assert witness.unless == "a network plug-in that enforces no NetworkPolicy gives no effect"
