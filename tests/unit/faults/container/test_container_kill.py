from __future__ import annotations

from cluster_targets import cluster_fault, target_pods

from chaosgate.model.change import KillContainer


def test_container_kill_signals_as_many_pods_as_its_dose() -> None:
    fault, pods = cluster_fault("container.kill", 1, 2, signal="INT"), target_pods(3)
    draw = fault.draw(7, "block1.4")

    few, many = (list(fault.changes(dose, pods, draw)) for dose in (1, 2))

    assert many[:1] == few
    assert all(isinstance(one, KillContainer) and (one.container, one.signal) == ("engine", "INT") for one in many)
    assert list(fault.changes(0.0, pods, draw)) == []


def test_too_few_pods_are_an_objection() -> None:
    assert cluster_fault("container.kill").objections(1, []) == [
        "mine: 1 pods are to be hit, 0 are there; lower the dose or raise their number"
    ]


def test_the_witness_counts_deaths_and_says_what_a_shell_cannot_end() -> None:
    witness = cluster_fault("container.kill").witness(1)
    assert (witness.gauge, witness.statistic) == ("deaths", "rise")
    assert witness.unless == "a main process that ignores the signal lives on"
