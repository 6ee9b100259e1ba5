"""A server that does not come up: what deploy says of it, from a real kubelet, scheduler and quota."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_ground import Ground
from cluster_rig import Command, Submit, write_spec

from chaosgate.cluster.api import Cluster, open_cluster
from chaosgate.deploy.cluster import bring_up, subject
from chaosgate.deploy.cluster.bring_up import start
from chaosgate.deploy.cluster.manifests import OwnPod, Server
from chaosgate.deploy.cluster.subject import reach
from chaosgate.errors import DeployError
from chaosgate.model.spec import KubernetesTarget

RUN = "drill"
SHORT = 8.0
"""Seconds to wait for what will not come."""


@pytest.fixture
def api(chaosgate: Command, namespace: str, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """The API server as deploy asks it, in the test's namespace."""
    monkeypatch.setenv("KUBECONFIG", chaosgate.env["KUBECONFIG"])
    return open_cluster(namespace)


def refusal(cluster: Cluster, image: str, script: str = "import signal; signal.pause()") -> str:
    """What deploy says of a server that does not come up."""
    own = OwnPod(image=image, pull_policy="IfNotPresent", service_account="chaosgate")
    server = Server(RUN, "engine", ["python", "-c", script], {"http": 8000}, {"cpu": "10m"})
    with pytest.raises(DeployError) as error:
        start(cluster, own, server)
    return str(error.value)


def test_an_image_that_cannot_be_pulled(api: Cluster) -> None:
    said = refusal(api, "localhost/absent:1")
    assert said.startswith(f"Deployment {RUN}-engine does not come up: ErrImagePull: ")
    assert "localhost/absent:1" in said
    assert "event Failed: Failed to pull image" in said


def test_a_server_that_crashes_at_its_start(api: Cluster, cluster: Ground) -> None:
    said = refusal(api, cluster.image, "raise SystemExit('no such model: giant')")
    assert said.startswith(f"Deployment {RUN}-engine does not come up: its container engine ended 2 times")
    assert "log: no such model: giant" in said
    assert "event BackOff: " in said


def test_a_quota_that_leaves_no_room(
    api: Cluster, cluster: Ground, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bring_up, "READY_DEADLINE", SHORT)
    metadata = {"name": "none", "namespace": namespace}
    cluster.api.apply(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": "0"}}}
    )
    said = refusal(api, cluster.image)
    assert said.startswith(
        f"Deployment {RUN}-engine does not come up: it was not ready within {SHORT:.0f} s; FailedCreate: "
    )
    assert "exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0" in said


def test_a_service_without_endpoints(
    api: Cluster, cluster: Ground, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "SERVING_DEADLINE", SHORT)
    ports = [{"name": "http", "port": 8000}]
    metadata = {"name": "web", "namespace": namespace}
    spec = {"selector": {"app": "web"}, "ports": ports}
    cluster.api.apply({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
    with pytest.raises(DeployError) as error:
        reach(api, RUN, KubernetesTarget(service="web", port=8000))
    assert str(error.value) == (
        f"Service web in namespace {namespace} has no endpoints: none of its pods was ready within {SHORT:.0f} s; "
        "there is no pod with the labels app=web"
    )


@pytest.mark.thorough
def test_a_run_without_the_gateways_secret_says_so_in_verdict_and_record(
    cluster: Ground, namespace: str, submit: Submit, tmp_path: Path
) -> None:
    cluster.api.delete(f"/api/v1/namespaces/{namespace}/secrets/chaosgate-gateway")
    run = submit(write_spec(tmp_path))
    finished = run.wait()
    (reason,) = (one.text for one in finished.verdict(tmp_path).reasons)
    assert reason.startswith("deploy failed: the environment variable CHAOSGATE_GATEWAY_KEY is empty")
    assert "kubectl create secret generic chaosgate-gateway" in reason
    run.gone()
    tags = run.sealed()
    assert tags["chaosgate.verdict"] == "error"
    assert tags["chaosgate.reason"].startswith("deploy failed: the environment variable")
