"""What is looked at before a run is submitted, and the sentence for each thing that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from argo_run import ready_cluster
from small_drill import write_spec

from chaosgate.errors import ClusterError
from chaosgate.model.carrier import Carrier, SecretVariable
from chaosgate.model.load import load_spec
from chaosgate.submit.argo.preflight import check_cluster, why_unrecorded

ACCOUNT = "/api/v1/namespaces/chaos/serviceaccounts/chaosgate"
SECRET = "/api/v1/namespaces/chaos/secrets/chaosgate-gateway"
SERVER = "https://fake.invalid:6443: "
NO_ACCOUNT = (
    SERVER + "namespace chaos has no service account chaosgate, which every step runs as; make it: "
    "chaosgate rbac SPEC --namespace chaos | kubectl apply -f -"
)
NO_SECRET = (
    SERVER + "namespace chaos has no Secret chaosgate-gateway with the key 'key': the admin token of every gateway "
    "comes from it; make it: kubectl create secret generic chaosgate-gateway -n chaos "
    "--from-literal=key=$(openssl rand -hex 32)"
)


def refused(cluster: object, carrier: Carrier | None = None, kind: str = "Workflow") -> list[str]:
    with pytest.raises(ClusterError) as error:
        check_cluster(cluster, carrier or Carrier(), kind)  # type: ignore[arg-type]
    return str(error.value).splitlines()


def test_a_cluster_that_has_everything_passes() -> None:
    check_cluster(ready_cluster(), Carrier())


def test_an_api_server_that_does_not_answer_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object, **__: object) -> None:
        raise ClusterError("https://fake.invalid:6443: the Kubernetes API does not answer: refused")

    cluster = ready_cluster()
    monkeypatch.setattr(cluster, "_text", lost)
    assert refused(cluster) == [
        "https://fake.invalid:6443: the Kubernetes API does not answer: refused; see where the kubeconfig leads: "
        "kubectl cluster-info"
    ]


@pytest.mark.parametrize(("kind", "plural"), [("Workflow", "workflows"), ("CronWorkflow", "cronworkflows")])
def test_argo_must_be_there(kind: str, plural: str) -> None:
    cluster = ready_cluster()
    cluster.unserved.add(plural)
    assert refused(cluster, kind=kind) == [
        f"{SERVER}serves no kind {kind} (argoproj.io/v1alpha1); install Argo Workflows 3.6 or newer, or its custom "
        "resource definitions: https://argo-workflows.readthedocs.io/en/latest/quick-start/"
    ]


def test_the_namespace_must_be_there_and_nothing_in_it_is_missed_then() -> None:
    cluster = ready_cluster()
    cluster.namespace = "nowhere"
    assert refused(cluster) == [
        SERVER
        + "has no namespace nowhere; make it: kubectl create namespace nowhere, or choose one with --namespace NS"
    ]


def test_everything_that_is_missing_is_said_at_once() -> None:
    cluster = ready_cluster()
    del cluster.objects[ACCOUNT], cluster.objects[SECRET]
    assert refused(cluster) == [NO_ACCOUNT, NO_SECRET]


def test_a_secret_without_the_key_is_none() -> None:
    cluster = ready_cluster()
    cluster.objects[SECRET]["data"] = {"token": "c2VjcmV0"}
    assert refused(cluster) == [NO_SECRET]


def test_a_team_s_own_secret_must_be_there_unless_it_is_optional() -> None:
    needed = SecretVariable(env="MLFLOW_TRACKING_PASSWORD", secret="mlflow", key="password")
    (sentence,) = refused(ready_cluster(), Carrier(secrets=(needed,)))
    assert sentence == (
        SERVER + "namespace chaos has no Secret mlflow with the key 'password': every step reads it; make it: "
        "kubectl create secret generic mlflow -n chaos --from-literal=password=VALUE"
    )
    check_cluster(ready_cluster(), Carrier(secrets=(needed.model_copy(update={"optional": True}),)))


@pytest.mark.parametrize("plural", ["namespaces", "serviceaccounts", "secrets"])
def test_what_this_user_may_not_see_counts_as_there(plural: str) -> None:
    cluster = ready_cluster()
    del cluster.objects[ACCOUNT], cluster.objects[SECRET]
    cluster.forbidden.add(("get", plural))
    said = [] if plural == "namespaces" else refused(cluster)
    assert (NO_ACCOUNT in said) == (plural == "secrets")
    assert (NO_SECRET in said) == (plural == "serviceaccounts")


def test_whether_pods_will_find_an_mlflow_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load_spec(write_spec(tmp_path))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://here:5000")
    assert why_unrecorded(spec, Carrier()) == (
        "no MLflow server is named; the profile may name one: `tracking: {uri: ...}`"
    )
    by_secret = SecretVariable(env="MLFLOW_TRACKING_URI", secret="mlflow", key="uri")
    assert why_unrecorded(spec, Carrier(secrets=(by_secret,))) is None
    tracking = spec.spec.tracking.model_copy(update={"uri": "http://mlflow:5000"})
    named = spec.model_copy(update={"spec": spec.spec.model_copy(update={"tracking": tracking})})
    assert why_unrecorded(named, Carrier()) is None
