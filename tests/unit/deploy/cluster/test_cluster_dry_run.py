"""A run against a cluster that is only looked at: it is ready exactly when nothing that it needs is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from cluster_drills import EMBEDDED, LOST, SERVICE, SLOW, drill
from fake_cluster import FakeCluster, namespace, node, pod

from chaosgate.deploy.cluster.access import questions
from chaosgate.deploy.cluster.dry_run import DryRun, dry_run
from chaosgate.deploy.cluster.rbac import needs_of
from chaosgate.deploy.cluster.room import PodNeed
from chaosgate.deploy.cluster.surroundings import registry_of
from chaosgate.model.carrier import Carrier, SecretVariable
from chaosgate.model.spec import ChaosSpec

IMAGE = "registry.example/chaosgate:1"
ALLOWED = {"chaosgate/allowed": "true"}
WEB = {"app": "vllm", "chaos-injectable": "true"}
CARRIER = Carrier(
    image=IMAGE, namespace="chaos", secrets=(SecretVariable(env="MLFLOW_TRACKING_TOKEN", secret="mlflow", key="token"),)
)
NEEDS = [PodNeed("engine", {"cpu": "100m", "memory": "256Mi"}, 2), PodNeed("gateway", {"cpu": "200m"})]
RUN = drill(LOST, target=SERVICE)
RIGHTS = len(list(questions(needs_of(RUN, "chaos"))))
Spoil = Callable[[FakeCluster], None]


def secret(name: str, *keys: str) -> dict[str, Any]:
    return {"kind": "Secret", "metadata": {"name": name}, "data": dict.fromkeys(keys, "eA==")}


def with_image(name: str) -> dict[str, Any]:
    found = node(name)
    found["status"]["images"] = [{"names": [IMAGE, "registry.example/chaosgate@sha256:1"]}]
    return found


def whole() -> FakeCluster:
    """A cluster that has all that a run needs."""
    return FakeCluster(
        "chaos",
        namespace("chaos", **ALLOWED),
        namespace("models", **ALLOWED),
        {"kind": "ServiceAccount", "metadata": {"name": "chaosgate"}},
        secret("chaosgate-gateway", "key"),
        secret("mlflow", "token"),
        {
            "kind": "Service",
            "metadata": {"name": "vllm", "namespace": "models"},
            "spec": {"ports": [{"port": 8000}], "selector": {"app": "vllm"}},
        },
        *(pod(f"vllm-{index}", "models", **WEB) for index in range(2)),
        with_image("node-0"),
    )


def seen(cluster: FakeCluster, spec: ChaosSpec = RUN) -> DryRun:
    return dry_run(cluster, spec, CARRIER, NEEDS, lambda *words: [])


def said(found: DryRun, level: str) -> list[str]:
    return [f"{one.about}: {one.text}" for one in found.findings if one.level == level]


def test_a_cluster_that_has_all() -> None:
    cluster = whole()
    found = seen(cluster)

    assert said(found, "missing") == said(found, "note") == []
    assert said(found, "ok") == [
        "workflows: the kind Workflow of Argo Workflows is served",
        "namespace: chaos is there; no fault changes anything in it",
        "namespace: models allows faults (chaosgate/allowed=true)",
        "account: service account chaosgate in namespace chaos",
        "secrets: Secret mlflow with the key token for MLFLOW_TRACKING_TOKEN",
        "secrets: Secret chaosgate-gateway with the key key for CHAOSGATE_GATEWAY_KEY",
        f"image: {IMAGE}: 1 of 1 nodes list it",
        f"target: 2 ready pods with app=vllm in namespace models, image sha256:{'a' * 64}",
        f"rights: system:serviceaccount:chaos:chaosgate: all {RIGHTS} rights that a run uses",
        "room: 0 quotas and 0 limit ranges leave room for 2 engine, 1 gateway",
    ]
    assert found.ready
    assert cluster.calls == []


MISSING: dict[str, tuple[Spoil, str]] = {
    "no Argo": (
        lambda cluster: cluster.unserved.add("workflows"),
        "workflows: no kind Workflow (argoproj.io/v1alpha1) is served; install Argo Workflows 3.6 or newer",
    ),
    "no account": (
        lambda cluster: forget(cluster, "serviceaccounts/chaosgate"),
        "account: namespace chaos has no service account chaosgate; make it with its rights: chaosgate rbac SPEC "
        "--namespace chaos | kubectl apply -f -",
    ),
    "no gateway key": (
        lambda cluster: forget(cluster, "secrets/chaosgate-gateway"),
        "secrets: no Secret chaosgate-gateway with the key key for CHAOSGATE_GATEWAY_KEY; make it: kubectl create "
        "secret generic chaosgate-gateway --namespace chaos --from-literal=key=$(openssl rand -hex 32)",
    ),
    "a Secret without the key": (
        lambda cluster: cluster.put(secret("mlflow", "other")),
        "secrets: no Secret mlflow with the key token for MLFLOW_TRACKING_TOKEN; make it: kubectl create secret "
        "generic mlflow --namespace chaos --from-literal=token=VALUE",
    ),
    "no ready pod": (
        lambda cluster: cluster.put(*(pod(f"vllm-{index}", "models", ready=False, **WEB) for index in range(2))),
        "target: no ready pods with app=vllm in namespace models; bring the server up first",
    ),
    "a right less": (
        lambda cluster: setattr(cluster, "allows", lambda asked, user: asked["resource"] != "configmaps"),
        "rights: system:serviceaccount:chaos:chaosgate may not, in namespace chaos: create, delete, get, list, patch "
        "configmaps; an administrator grants it: chaosgate rbac SPEC --namespace chaos | kubectl apply -f -",
    ),
    "no room": (
        lambda cluster: cluster.put(
            {"kind": "ResourceQuota", "metadata": {"name": "team"}, "spec": {"hard": {"pods": "2"}}}
        ),
        "room: ResourceQuota team leaves 2 of 2 pods, a run needs 3 at its peak (2 engine, 1 gateway): raise it, or "
        "end what else uses it",
    ),
}


def forget(cluster: FakeCluster, ending: str) -> None:
    (path,) = [path for path in cluster.objects if path.endswith(ending)]
    del cluster.objects[path]


@pytest.mark.parametrize("case", MISSING)
def test_each_thing_that_is_missing_is_said_and_keeps_it_from_being_ready(case: str) -> None:
    spoil, says = MISSING[case]
    cluster = whole()
    spoil(cluster)
    found = seen(cluster)

    assert said(found, "missing") == [says]
    assert not found.ready


def test_a_namespace_that_does_not_allow_faults() -> None:
    cluster = whole()
    cluster.put(namespace("models"))
    found = seen(cluster)

    assert said(found, "missing") == [
        "namespace: models does not allow faults; who answers for it allows them: kubectl label namespace models "
        "chaosgate/allowed=true"
    ]
    assert [one.rule for one in found.faults[0].doses[0].objections] == ["namespace-opt-in"]


def test_a_protected_namespace_is_not_asked_to_allow_faults() -> None:
    cluster = whole()
    cluster.put(namespace("models"))
    found = seen(cluster, drill(LOST, target=SERVICE, safety="{protectedNamespaces: [models]}"))

    assert said(found, "missing") == ["namespace: models is protected: nothing is changed there; choose another target"]
    assert [one.rule for one in found.faults[0].doses[0].objections] == ["protected-namespace"]


def test_a_run_that_hits_nothing_needs_no_such_label() -> None:
    cluster = whole()
    cluster.put(namespace("models"), namespace("chaos"))

    assert seen(cluster, drill(SLOW, target=SERVICE)).ready
    assert seen(cluster, drill(SLOW, target=EMBEDDED)).ready


def test_a_dose_that_would_be_refused_keeps_it_from_being_ready() -> None:
    found = seen(whole(), drill(LOST, target=SERVICE, safety="{minHealthy: 2}"))

    assert said(found, "missing") == []
    assert not found.ready


def test_whom_faults_hit_must_be_known() -> None:
    cluster = whole()
    cluster.forbidden.add(("list", "poddisruptionbudgets"))
    found = seen(cluster)

    assert not found.ready
    assert said(found, "missing")[0].startswith("faults: whom they hit is not known: GET ")


@pytest.mark.parametrize(
    ("plural", "about"),
    [("secrets", "secrets"), ("nodes", "image"), ("serviceaccounts", "account"), ("resourcequotas", "room")],
)
def test_what_may_not_be_read_is_said_and_not_guessed(plural: str, about: str) -> None:
    cluster = whole()
    cluster.forbidden.add(("*", plural))
    found = seen(cluster)
    notes = [one for one in found.findings if one.level == "note"]

    assert found.ready
    assert {one.about for one in notes} == {about}
    assert all(one.text.startswith("not looked at: GET ") and f"{plural} is forbidden" in one.text for one in notes)


def test_whose_rights_were_looked_at_is_said() -> None:
    cluster = whole()
    cluster.impersonates = False
    found = seen(cluster)

    assert said(found, "note") == [
        "rights: you may not ask in the name of system:serviceaccount:chaos:chaosgate (impersonate users): the answers "
        "are about you, not about it"
    ]
    assert f"rights: you: all {RIGHTS} rights that a run uses" in said(found, "ok")


def test_a_schedule_needs_another_kind() -> None:
    cluster = whole()
    cluster.unserved.add("cronworkflows")
    found = seen(cluster, drill(LOST, target=SERVICE, more='  schedule: {cron: "0 3 * * *"}\n'))

    assert said(found, "missing") == [
        "workflows: no kind CronWorkflow (argoproj.io/v1alpha1) is served; install Argo Workflows 3.6 or newer"
    ]


def test_an_image_that_a_node_lacks() -> None:
    cluster = whole()
    cluster.put(node("node-1"))

    assert said(seen(cluster), "note") == [
        f"image: {IMAGE}: 1 of 2 nodes list it; the others pull it from registry.example"
    ]
    never = CARRIER.model_copy(update={"pull_policy": "Never"})
    assert "pullPolicy is Never" in said(dry_run(cluster, RUN, never, NEEDS, lambda *words: []), "note")[0]


@pytest.mark.parametrize(
    ("image", "registry"),
    [
        ("registry.example/chaosgate:1", "registry.example"),
        ("localhost/chaosgate:1", "localhost"),
        ("host:5000/chaosgate:1", "host:5000"),
        ("chaosgate:0.1.0", "docker.io, for it names no registry"),
        ("team/chaosgate:0.1.0", "docker.io, for it names no registry"),
    ],
)
def test_where_an_image_is_pulled_from(image: str, registry: str) -> None:
    assert registry_of(image) == registry


def test_scopes_and_argos_own_containers_are_noted() -> None:
    cluster = whole()
    for name, spec in (("cpu", {"hard": {"requests.cpu": "9"}}), ("scoped", {"hard": {"pods": "1"}, "scopes": ["X"]})):
        cluster.put({"kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec})
    found = seen(cluster)

    assert said(found, "note") == [
        "room: a quota counts cpu: the containers that Argo adds to each step must ask for it, too; set "
        "`executor.resources` in the configuration of its controller, or a LimitRange with a defaultRequest",
        "room: ResourceQuota scoped has scopes; not looked at",
    ]


def test_the_same_for_machines() -> None:
    spec = drill(LOST, target=SERVICE, safety="{overrides: [{rule: min-healthy, reason: both may go}]}")
    found = json.loads(json.dumps(seen(whole(), spec).to_json()))

    assert found["ready"] is True
    assert found["overrides"] == [{"rule": "min-healthy", "reason": "both may go"}]
    assert {"about": "account", "level": "ok", "text": "service account chaosgate in namespace chaos"} in found[
        "findings"
    ]
    (fault,) = found["faults"]
    assert (fault["namespace"], fault["labels"]) == ("models", {"app": "vllm"})
    assert fault["candidates"][0] == {"name": "vllm-0", "node": "node-0", "ready": True}
    assert fault["doses"][0]["at_once"] == 1
