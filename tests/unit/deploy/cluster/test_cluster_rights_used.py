"""A run asks the API server for what its rights allow: for nothing more, and there is no right that it never uses."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from cluster_drills import LOST, drill
from fake_cluster import FakeCluster, namespace, pod

from chaosgate.cluster.names import labels
from chaosgate.components.cluster_sweeper import workflow_phase
from chaosgate.components.on_cluster import halt_gateway
from chaosgate.deploy.cluster import bring_up
from chaosgate.deploy.cluster.clean import remove_marker, remove_objects
from chaosgate.deploy.cluster.own_pod import read_own_pod
from chaosgate.deploy.cluster.rbac import base_rules, cluster_faults, guard_rules, needs_of
from chaosgate.deploy.cluster.ready import details
from chaosgate.deploy.cluster.safety import Guard
from chaosgate.deploy.cluster.subject import own_pods, read_image
from chaosgate.model.change import DeletePod
from chaosgate.tokens import KEY_VARIABLE

RUN = "drill-1"
ARGOS = {("workflowtaskresults", "create"), ("workflowtaskresults", "patch")}
"""What Argo's container in a pod does under the same account."""


class Served(FakeCluster):
    """Every Deployment is ready at once."""

    def get(self, kind: str, name: str, namespace: str | None = None) -> dict[str, Any] | None:
        found = super().get(kind, name, namespace)
        if kind != "Deployment" or found is None:
            return found
        replicas = found["spec"]["replicas"]
        ready = {"observedGeneration": 1, "updatedReplicas": replicas, "readyReplicas": replicas, "replicas": replicas}
        return {**found, "metadata": {**found["metadata"], "generation": 1}, "status": ready}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Served:
    """A cluster on which this process is deploy's pod, with something of the run left over."""
    own = pod("deploy-pod")
    own["spec"]["containers"][0]["env"] = [{"name": KEY_VARIABLE, "value": "k"}]
    leftover = {
        "kind": "NetworkPolicy",
        "metadata": {"name": "block", "namespace": "chaos", "labels": labels(RUN, "fault")},
        "spec": {},
    }
    allowed = namespace("chaos", **{"chaosgate/allowed": "true"})
    engine = pod("engine-0", **labels(RUN, "engine"), **{"chaos-injectable": "true"})
    monkeypatch.setattr(socket, "gethostname", lambda: "deploy-pod")
    monkeypatch.setattr(bring_up, "wait_reachable", lambda *words: None)
    return Served("chaos", allowed, own, leftover, engine)


def lead_a_life(cluster: FakeCluster) -> None:
    """All that the steps of a run ask for, from deploy's first look to cleanup's last."""
    spec = drill(LOST)
    own = read_own_pod(cluster)
    bring_up.mark(cluster, RUN, "{}")
    bring_up.arm_sweeper(cluster, RUN, own, 60.0)
    url = bring_up.start_engine(cluster, RUN, own, spec, 60.0)
    bring_up.start_gateway(cluster, RUN, own, spec, url, {}, 60.0)
    assert bring_up.sweeper_guards(cluster, RUN)
    pods = own_pods(cluster, spec, RUN)
    assert pods is not None
    read_image(cluster, pods)
    list(details(cluster, [pod("engine-0")]))
    assert workflow_phase(cluster, RUN) is None
    halt_gateway(cluster, RUN)
    remove_objects(cluster, RUN)
    remove_marker(cluster, RUN)


def allowed(rules: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(resource, verb) for one in rules for resource in one["resources"] for verb in one["verbs"]}


def test_the_base_rules_are_what_a_run_uses(cluster: Served) -> None:
    lead_a_life(cluster)

    assert {place for place, _, _ in cluster.asked} == {"chaos"}
    assert {(resource, verb) for _, resource, verb in cluster.asked} == allowed(base_rules()) - ARGOS


def test_the_guard_s_rules_are_what_it_uses(cluster: Served) -> None:
    spec = drill(LOST, safety="{maxShare: 100 %, overrides: [{rule: min-healthy, reason: there is but one}]}")
    guard = Guard(cluster, spec, RUN, own_pods(cluster, spec, RUN))

    assert guard.check(cluster_faults(spec)[0], [DeletePod("engine-0", "uid-engine-0", None)]) == []
    assert {(resource, verb) for _, resource, verb in cluster.asked} == allowed(guard_rules("chaos"))
    assert allowed(guard_rules("chaos")) <= allowed(list(needs_of(spec, "chaos").namespaces["chaos"]))
