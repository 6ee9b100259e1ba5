"""Who may be hit on a cluster: each rule refuses what it is there to refuse, and nothing once it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from fake_cluster import FakeCluster, namespace, node, pod

from chaosgate.cluster.names import HIT_LABEL, RUN_LABEL, labels
from chaosgate.deploy.cluster.safety import Guard, standing
from chaosgate.errors import ClusterError
from chaosgate.model.change import (
    Change,
    Cordon,
    DeletePod,
)
from chaosgate.model.fault import ClusterFault, ClusterTarget
from chaosgate.model.load import parse_spec
from chaosgate.model.spec import ChaosSpec

RUN = "drill-1"
ALLOWED = {"chaosgate/allowed": "true"}
WEB = {"app": "web", "chaos-injectable": "true"}
NOON = datetime(2026, 3, 25, 12, 0, tzinfo=UTC)
SPEC = """\
apiVersion: chaosgate/v1
kind: ChaosSpec
metadata: {name: drill}
spec:
  target: {engine: embedded, model: embedded/tiny, replicas: 2}
  workload: {arrivals: {process: poisson, rate: 20/s}, prompts: {set: recall-24}}
  steadyState: {objectives: [{sli: error-rate, bound: "<= 1 %"}]}
  faults:
    - name: lost
      kind: pod.delete
      target: TARGET
      dose: {parameter: pods, values: [1], hold: 10s, washout: 1s}
    - name: closed
      kind: node.cordon
      target: TARGET
      dose: {parameter: nodes, values: [1], hold: 10s, washout: 1s}
  objectives: [{name: up, sli: error-rate, bound: "<= 5 %", at: {dose: all}, fault: lost}]
  safety: SAFETY
"""
Spoil = Callable[[FakeCluster], None]


def spec_of(safety: str = "{}", target: str = "{namespace: models, labels: {app: web}}") -> ChaosSpec:
    return parse_spec(SPEC.replace("SAFETY", safety).replace("TARGET", target), "drill.yaml")


def healthy() -> FakeCluster:
    """Three copies of a server in a namespace that allows faults, on three nodes."""
    return FakeCluster(
        "chaos",
        namespace("models", **ALLOWED),
        *(pod(f"web-{index}", "models", **WEB) for index in range(3)),
        *(node(f"node-{index}", **{"chaos-injectable": "true"}) for index in range(3)),
    )


def deletions(*names: str) -> list[Change]:
    return [DeletePod(name, f"uid-{name}", None) for name in names]


def fault_of(spec: ChaosSpec, name: str) -> ClusterFault:
    fault = spec.fault(name)
    assert isinstance(fault, ClusterFault)
    return fault


def checked(
    cluster: FakeCluster,
    spec: ChaosSpec | None = None,
    hit: tuple[str, ...] = ("web-0",),
    own: ClusterTarget | None = None,
    now: datetime = NOON,
) -> list[str]:
    spec = spec or spec_of()
    guard, fault, changes = Guard(cluster, spec, RUN, own), fault_of(spec, "lost"), deletions(*hit)
    return standing(guard.judge(fault, guard.read(fault, changes), changes, now))


def checked_nodes(cluster: FakeCluster, hit: tuple[str, ...] = ("node-0",), safety: str = "{}") -> list[str]:
    spec = spec_of(safety)
    return Guard(cluster, spec, RUN, None).check(fault_of(spec, "closed"), [Cordon(name) for name in hit])


def budget(allowed: int, **wanted: str) -> dict[str, Any]:
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "models"},
        "spec": {"selector": {"matchLabels": wanted}},
        "status": {"disruptionsAllowed": allowed},
    }


def test_one_of_three_healthy_pods_may_be_hit() -> None:
    assert checked(healthy()) == []


REFUSED: dict[str, tuple[Spoil, str]] = {
    "a namespace without the label": (
        lambda cluster: cluster.put(namespace("models")),
        "namespace models has no label chaosgate/allowed; faults are injected where it is true: who answers for it "
        "allows it with `kubectl label namespace models chaosgate/allowed=true`",
    ),
    "a namespace that says no": (
        lambda cluster: cluster.put(namespace("models", **{"chaosgate/allowed": "no"})),
        "namespace models has the label chaosgate/allowed=no; faults are injected where it is true: who answers for it "
        "allows it with `kubectl label namespace models chaosgate/allowed=true`",
    ),
    "a pod without the label": (
        lambda cluster: cluster.put(pod("web-0", "models", app="web")),
        "pod web-0 has no label chaos-injectable; a fault hits what has chaos-injectable=true: put it into the "
        "template from which its pods are made",
    ),
    "a pod of another run": (
        lambda cluster: cluster.put(pod("web-0", "models", **WEB, **{RUN_LABEL: "other-7"})),
        "pod web-0 is another run's, chaosgate/run reads other-7; a target has one fault at a time: wait until that "
        "run is over, or end it with `chaosgate cleanup other-7`",
    ),
    "a pod that another run's fault has changed": (
        lambda cluster: cluster.put(pod("web-0", "models", **WEB, **{HIT_LABEL: "other-7"})),
        "pod web-0 is another run's, chaosgate/hit reads other-7; a target has one fault at a time: wait until that "
        "run is over, or end it with `chaosgate cleanup other-7`",
    ),
    "too few left healthy": (
        lambda cluster: cluster.put(*(pod(f"web-{index}", "models", ready=False, **WEB) for index in (1, 2))),
        "0 ready pods of the target in namespace models would be left alone; safety.minHealthy wants 1: wait until "
        "more are ready, or run more of them",
    ),
    "a budget that is used up": (
        lambda cluster: cluster.put(budget(0, app="web")),
        "PodDisruptionBudget web in namespace models allows 0 disruptions now, 1 of its pods would be hit (web-0): "
        "wait until more of them are ready, or lower the dose",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_each_rule_refuses(case: str) -> None:
    change, says = REFUSED[case]
    cluster = healthy()
    change(cluster)

    assert checked(cluster) == [says]


def test_a_budget_of_other_pods_or_with_room_refuses_nothing() -> None:
    for other in (budget(1, app="web"), budget(0, app="db")):
        cluster = healthy()
        cluster.put(other)
        assert checked(cluster) == []


def test_numbers_and_shares() -> None:
    assert checked(healthy(), hit=("web-0", "web-1")) == [
        "2 pods would be hit at once; safety.maxPods allows 1: lower the dose or raise it",
        "2 of 3 pods would be hit at once, 66.67 %; safety.maxShare allows 50 %: lower the dose, run more of them, or "
        "raise it",
    ]
    assert checked(healthy(), spec_of("{maxPods: 2, maxShare: 67 %}"), hit=("web-0", "web-1")) == []


def test_what_this_run_has_hit_already_counts() -> None:
    cluster = healthy()
    cluster.put(pod("web-1", "models", **WEB, **{HIT_LABEL: RUN}))

    assert checked(cluster)[0].startswith("2 pods would be hit at once")
    # Whose mark it is decides: the same pod, hit again, is one pod.
    assert checked(cluster, hit=("web-1",)) == []


@pytest.mark.parametrize("place", ["kube-system", "kube-public", "kube-node-lease", "argo", "payments"])
@pytest.mark.parametrize("labels", [ALLOWED, {}])
def test_protected_namespaces_refuse_whatever_they_are_labelled(place: str, labels: dict[str, str]) -> None:
    cluster = FakeCluster("chaos", namespace(place, **labels), *(pod(f"web-{i}", place, **WEB) for i in range(3)))
    spec, own = (
        spec_of("{protectedNamespaces: [payments]}", "{}"),
        ClusterTarget(namespace=place, labels={"app": "web"}),
    )

    assert checked(cluster, spec, own=own) == [
        f"namespace {place} is protected, as argo, kube-node-lease, kube-public, kube-system, payments are; choose "
        "another target"
    ]


def own_ground() -> tuple[FakeCluster, ClusterTarget]:
    """A run's own engine beside a stranger in the run's namespace."""
    engine = labels(RUN, "engine")
    cluster = FakeCluster(
        "chaos",
        namespace("chaos", **ALLOWED),
        *(pod(f"web-{index}", "chaos", **engine, **WEB) for index in range(2)),
        pod("mlflow-0", "chaos", **WEB),
    )
    return cluster, ClusterTarget(namespace="chaos", labels=engine)


def test_in_the_runs_own_namespace_only_its_target_is_hit() -> None:
    cluster, own = own_ground()
    spec = spec_of(target="{}")

    assert checked(cluster, spec, own=own) == []
    assert checked(cluster, spec_of("{maxShare: 100 %}", "{labels: {app: web}}"), ("mlflow-0",), own) == [
        "pod mlflow-0 is in namespace chaos, where the run's own steps are; only the run's target may be hit there, "
        "and this pod does not belong to it: choose another target, or another namespace for the run"
    ]


def test_an_existing_service_in_the_runs_namespace_is_its_target() -> None:
    cluster, _ = own_ground()
    service = ClusterTarget(namespace="chaos", labels={"app": "web", RUN_LABEL: RUN})

    assert checked(cluster, spec_of(target="{}"), own=service) == []
    elsewhere = ClusterTarget(namespace="models", labels={"app": "web", RUN_LABEL: RUN})
    assert len(checked(cluster, spec_of(target="{namespace: chaos, labels: {app: web}}"), own=elsewhere)) == 1


def test_a_fault_that_nobody_aims_hits_nothing() -> None:
    with pytest.raises(ClusterError, match="lost: nothing says which pods it may hit"):
        checked(healthy(), spec_of(target="{}"))


TIMES = '{allowed: [{days: [mon], from: "09:00", to: "17:00", timezone: UTC}]}'


def test_outside_the_allowed_times_nothing_is_hit() -> None:
    assert checked(healthy(), spec_of(TIMES)) == [
        "Wed 2026-03-25 12:00 UTC is outside mon from 09:00 to 17:00 UTC (safety.allowed); wait, or change the allowed "
        "times"
    ]
    assert checked(healthy(), spec_of(TIMES), now=datetime(2026, 3, 23, 16, 59, 45, tzinfo=UTC)) == []
    # The fault is held for 10 s and would still be on when the time is over.
    assert checked(healthy(), spec_of(TIMES), now=datetime(2026, 3, 23, 16, 59, 55, tzinfo=UTC)) != []


OVERRIDES: Mapping[str, tuple[Spoil, str, tuple[str, ...]]] = {
    "pod-opt-in": (REFUSED["a pod without the label"][0], "{OVERRIDES}", ("web-0",)),
    "min-healthy": (REFUSED["too few left healthy"][0], "{OVERRIDES}", ("web-0",)),
    "disruption-budget": (REFUSED["a budget that is used up"][0], "{OVERRIDES}", ("web-0",)),
    "max-pods": (lambda cluster: None, "{maxShare: 100 %, OVERRIDES}", ("web-0", "web-1")),
    "max-share": (lambda cluster: None, "{maxPods: 2, OVERRIDES}", ("web-0", "web-1")),
    "time-window": (lambda cluster: None, TIMES.replace("{allowed", "{OVERRIDES, allowed"), ("web-0",)),
}


@pytest.mark.parametrize("rule", OVERRIDES)
def test_an_override_lifts_its_own_rule_and_no_other(rule: str) -> None:
    change, safety, hit = OVERRIDES[rule]
    cluster = healthy()
    change(cluster)

    def with_override(of: str) -> ChaosSpec:
        return spec_of(safety.replace("OVERRIDES", f"overrides: [{{rule: {of}, reason: it is a drill}}]"))

    assert checked(cluster, with_override(rule), hit) == []
    other = "min-healthy" if rule != "min-healthy" else "max-pods"
    assert len(checked(cluster, with_override(other), hit)) == 1


def test_an_overridden_objection_is_still_known() -> None:
    cluster = healthy()
    cluster.put(pod("web-0", "models", app="web"))
    spec = spec_of("{overrides: [{rule: pod-opt-in, reason: the template is another team's}]}")
    found = Guard(cluster, spec, RUN, None).objections(fault_of(spec, "lost"), deletions("web-0"))

    assert [(one.rule, one.override.reason if one.override else None) for one in found] == [
        ("pod-opt-in", "the template is another team's")
    ]
    assert standing(found) == []


def test_who_may_not_read_a_namespace_is_told_what_to_do() -> None:
    cluster = healthy()
    cluster.forbidden.add(("list", "poddisruptionbudgets"))

    with pytest.raises(ClusterError, match=r"refused with 403.*`chaosgate rbac SPEC` prints what is needed"):
        checked(cluster)


def test_one_of_three_open_nodes_may_be_closed() -> None:
    assert checked_nodes(healthy()) == []


NODES_REFUSED: dict[str, tuple[Spoil, str]] = {
    "a node without the label": (
        lambda cluster: cluster.put(node("node-0")),
        "node node-0 has no label chaos-injectable; a fault hits what has chaos-injectable=true: label nodes on which "
        "nothing else runs",
    ),
    "a node that another run's fault has changed": (
        lambda cluster: cluster.put(node("node-0", **{"chaos-injectable": "true", HIT_LABEL: "other-7"})),
        "node node-0 is another run's, chaosgate/hit reads other-7; a target has one fault at a time: wait until that "
        "run is over, or end it with `chaosgate cleanup other-7`",
    ),
    "the only node that takes pods": (
        lambda cluster: cluster.put(node("node-1", ready=False), node("node-2", unschedulable=True)),
        "0 nodes that take pods of the cluster would be left alone; safety.minHealthy wants 1: wait until more are "
        "ready, or run more of them",
    ),
}


@pytest.mark.parametrize("case", NODES_REFUSED)
def test_what_each_rule_refuses_of_nodes(case: str) -> None:
    change, says = NODES_REFUSED[case]
    cluster = healthy()
    change(cluster)

    assert checked_nodes(cluster) == [says]


def test_numbers_and_shares_of_nodes() -> None:
    assert [line.partition(";")[0] for line in checked_nodes(healthy(), ("node-0", "node-1"))] == [
        "2 nodes would be hit at once",
        "2 of 3 nodes would be hit at once, 66.67 %",
    ]
    assert checked_nodes(healthy(), ("node-0", "node-1"), "{maxPods: 2, maxShare: 67 %}") == []


def test_where_nothing_is_changed_nothing_is_asked() -> None:
    cluster = healthy()
    cluster.forbidden |= {("*", "pods"), ("*", "namespaces"), ("*", "nodes"), ("*", "poddisruptionbudgets")}
    spec = spec_of()

    assert Guard(cluster, spec, RUN, None).check(fault_of(spec, "lost"), []) == []


def test_nodes_are_read_only_for_changes_of_nodes() -> None:
    cluster = healthy()
    cluster.forbidden.add(("list", "nodes"))

    assert checked(cluster) == []
    with pytest.raises(ClusterError, match="nodes is forbidden"):
        checked_nodes(cluster)
