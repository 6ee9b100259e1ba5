"""Whom a spec's faults would hit on a cluster as it is, before there is a run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from cluster_drills import EMBEDDED, LOST, SERVICE, SLOW, drill, fault
from fake_cluster import FakeCluster, namespace, node, pod

from chaosgate.cluster.names import labels
from chaosgate.deploy.cluster.aim import DoseAim, FaultAim, Look, aims, windows_of
from chaosgate.deploy.cluster.manifests import OwnPod
from chaosgate.deploy.cluster.safety import Guard
from chaosgate.errors import ClusterError
from chaosgate.model.change import Change, DeletePod, TargetPod
from chaosgate.model.fault import ClusterFault, ClusterTarget
from chaosgate.model.spec import ChaosSpec

RUN = "planned-run"
TEMPLATE = OwnPod("localhost/chaosgate:1", "IfNotPresent", "chaosgate")
ALLOWED = {"chaosgate/allowed": "true"}
WEB = {"app": "vllm", "chaos-injectable": "true"}
MODELS = ClusterTarget(namespace="models", labels={"app": "vllm"})


def no_more(fault: ClusterFault, place: str, changes: Sequence[Change], pods: Sequence[TargetPod]) -> list[str]:
    return []


def models(replicas: int = 4) -> FakeCluster:
    """An existing server with its replicas on two nodes."""
    pods = (pod(f"vllm-{index}", "models", node=f"node-{index % 2}", **WEB) for index in range(replicas))
    nodes = (node(f"node-{index}", **{"chaos-injectable": "true"}) for index in range(3))
    return FakeCluster("chaos", namespace("chaos", **ALLOWED), namespace("models", **ALLOWED), *pods, *nodes)


def aimed(cluster: FakeCluster, spec: ChaosSpec, own: ClusterTarget | None = MODELS, look: Look = no_more) -> FaultAim:
    (only,) = aims(Guard(cluster, spec, RUN, own), TEMPLATE, look)
    return only


def rules(dose: DoseAim) -> list[str]:
    return [one.rule for one in dose.objections]


def test_the_pods_of_an_existing_server_by_name_and_node() -> None:
    found = aimed(models(2), drill(LOST, target=SERVICE))

    assert (found.fault, found.kind, found.namespace, found.planned) == ("pod-delete", "pod.delete", "models", False)
    assert [(one.name, one.node, one.ready) for one in found.candidates] == [
        ("vllm-0", "node-0", True),
        ("vllm-1", "node-1", True),
    ]


def test_each_dose_hits_as_many_as_it_says_and_the_rules_speak() -> None:
    one, two, five = aimed(models(), drill(fault("pod.delete", values="[1, 2, 5]"), target=SERVICE)).doses

    assert [(dose.at_once, dose.allowed) for dose in (one, two, five)] == [(1, True), (2, False), (4, False)]
    assert set(one.pods) <= set(two.pods) <= set(five.pods) == {f"vllm-{index}" for index in range(4)}
    assert [rules(dose) for dose in (one, two, five)] == [[], ["max-pods"], ["max-pods", "max-share", "min-healthy"]]
    assert five.obstacles == ("pod-delete: 5 pods are to be hit, 4 are there; lower the dose or raise their number",)


def test_the_pods_are_those_that_the_planned_windows_draw() -> None:
    spec = drill(LOST, target=SERVICE)
    (injected,) = spec.spec.faults
    assert isinstance(injected, ClusterFault)
    targets = [TargetPod(f"vllm-{index}", f"uid-vllm-{index}", "engine") for index in range(4)]
    drawn = set()
    for phase, window in windows_of(spec, injected.name):
        draw = injected.window_draw(spec.spec.workload.seed, phase, window.index)
        drawn |= {one.pod for one in injected.changes(window.dose, targets, draw) if isinstance(one, DeletePod)}

    assert set(aimed(models(), spec).doses[0].pods) == drawn


def test_an_override_lets_a_dose_through_and_is_shown() -> None:
    safety = "{overrides: [{rule: max-pods, reason: both are to go}]}"
    (dose,) = aimed(models(), drill(fault("pod.delete", values="[2]"), target=SERVICE, safety=safety)).doses

    assert dose.allowed
    assert dose.to_json()["objections"] == [
        {
            "rule": "max-pods",
            "text": "2 pods would be hit at once; safety.maxPods allows 1: lower the dose or raise it",
            "overridden": "both are to go",
        }
    ]


def test_what_the_injector_would_object_to_stands_in_the_way() -> None:
    (dose,) = aimed(models(), drill(LOST, target=SERVICE), look=lambda *words: ["the node is cordoned already"]).doses

    assert not dose.allowed
    assert dose.obstacles == ("the node is cordoned already",)


def test_an_engine_that_is_to_be_started_is_looked_at_as_if_it_ran() -> None:
    own = ClusterTarget(namespace="chaos", labels=labels(RUN, "engine"))
    found = aimed(models(0), drill(fault("pod.delete", values="[1, 2]"), target=EMBEDDED), own)

    assert found.planned
    assert [one.name for one in found.candidates] == ["planned-run-engine-1", "planned-run-engine-2"]
    assert [dose.allowed for dose in found.doses] == [True, False]
    assert rules(found.doses[1]) == ["max-pods", "max-share", "min-healthy"]


def test_replicas_of_an_engine_that_is_to_be_started_belong_to_its_deployment() -> None:
    own = ClusterTarget(namespace="chaos", labels=labels(RUN, "engine"))
    spec = drill(fault("deployment.replica-loss", "replicas"), target=EMBEDDED)

    (dose,) = aimed(models(0), spec, own).doses
    assert (dose.at_once, dose.obstacles, dose.allowed) == (1, (), True)


def test_nodes_of_pods_that_are_not_there_are_not_known() -> None:
    own = ClusterTarget(namespace="chaos", labels=labels(RUN, "engine"))

    assert aimed(models(0), drill(fault("node.cordon", "nodes"), target=EMBEDDED), own).doses == ()


def test_nodes_that_would_be_closed() -> None:
    one, two = aimed(models(2), drill(fault("node.cordon", "nodes", "[1, 2]"), target=SERVICE)).doses

    assert (one.nodes, one.pods, one.allowed) != ((), (), False)
    assert two.nodes == ("node-0", "node-1")
    assert rules(two) == ["max-pods", "max-share"]


def test_a_server_without_pods() -> None:
    found = aimed(models(0), drill(LOST, target=SERVICE))

    assert found.candidates == ()
    assert [dose.allowed for dose in found.doses] == [False]


def test_a_fault_that_is_aimed_at_nothing() -> None:
    with pytest.raises(ClusterError, match="pod-delete: nothing says which pods it may hit"):
        aimed(models(), drill(LOST, target=SERVICE), own=None)


def test_faults_of_the_wire_hit_no_object() -> None:
    assert list(aims(Guard(models(), drill(SLOW), RUN, MODELS), TEMPLATE, no_more)) == []


def test_nothing_is_changed() -> None:
    cluster = models()
    aimed(cluster, drill(fault("pod.delete", values="[1, 2]"), target=SERVICE))

    assert cluster.calls == []
