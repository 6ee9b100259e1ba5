from __future__ import annotations

from dataclasses import replace

from cluster_targets import cluster_fault, target_pods

from chaosgate.model.change import Scale


def test_a_deployment_is_scaled_down_once_by_the_whole_dose() -> None:
    fault = cluster_fault("deployment.replica-loss", 2)
    assert list(fault.changes(2, target_pods(), fault.draw(7, "block1.2"))) == [Scale("engine", 2)]
    assert list(fault.changes(0.0, target_pods(), fault.draw(7, "block1.2"))) == []


def test_several_deployments_lose_what_is_drawn_of_each() -> None:
    fault = cluster_fault("deployment.replica-loss", 3)
    pods = [replace(pod, deployment="blue" if number % 2 else "green") for number, pod in enumerate(target_pods(6))]

    found = fault.changes(3, pods, fault.draw(7, "block1.2"))

    assert sum(change.fewer for change in found if isinstance(change, Scale)) == 3
    assert [change.deployment for change in found if isinstance(change, Scale)] == sorted({"blue", "green"})


def test_pods_without_a_deployment_are_an_objection() -> None:
    assert cluster_fault("deployment.replica-loss").objections(1, target_pods(1, deployment=None)) == [
        "mine: pod engine-0 belongs to no Deployment; name pods of one by the target's labels"
    ]


def test_the_witness_is_the_number_of_ready_pods() -> None:
    witness = cluster_fault("deployment.replica-loss").witness(2)
    assert (witness.gauge, witness.statistic, witness.falls, witness.moved) == ("ready", "mean", True, 1.0)
