"""On a cluster the engine is told of its faults by a ConfigMap; neither that nor its pod holds a secret of the run."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_drills import LOST, drill
from fake_cluster import FakeCluster
from simulated_run import LATENCY, OBJECTIVES, stream_spec

from chaosgate.deploy.cluster import bring_up
from chaosgate.deploy.cluster.manifests import OwnPod, sweeper_job
from chaosgate.errors import UsageError
from chaosgate.model.carried_faults import EngineFaults
from chaosgate.model.spec import ChaosSpec
from chaosgate.tokens import KEY_VARIABLE, engine_token, run_token, token_digest

KEY = {"name": KEY_VARIABLE, "valueFrom": {"secretKeyRef": {"name": "chaosgate-gateway", "key": "key"}}}
TRACKING = {"name": "MLFLOW_TRACKING_TOKEN", "valueFrom": {"secretKeyRef": {"name": "mlflow", "key": "token"}}}
OWN = OwnPod("localhost/chaosgate:1", "IfNotPresent", "chaosgate", environment=(KEY, TRACKING))
INSIDE = {
    "name": "inside",
    "kind": "kv.token-overwrite",
    "dose": {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"},
}


def started(monkeypatch: pytest.MonkeyPatch, spec: ChaosSpec) -> tuple[FakeCluster, dict[str, Any]]:
    """The cluster on which the engine of `spec` was started, and its pods' specification."""
    for wait in ("wait_ready", "wait_reachable"):
        monkeypatch.setattr(bring_up, wait, lambda *words: None)
    monkeypatch.setenv(KEY_VARIABLE, "k")
    cluster = FakeCluster()
    bring_up.start_engine(cluster, "r1", OWN, spec, 60.0)
    deployment = cluster.get("Deployment", "r1-engine")
    assert deployment is not None
    pod: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return cluster, pod


def test_the_engine_reads_its_faults_from_a_config_map(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = stream_spec(faults=(LATENCY, INSIDE), fits=(), objectives=OBJECTIVES[3:])
    cluster, pod = started(monkeypatch, spec)

    argv = pod["containers"][0]["command"]
    assert argv[argv.index("--faults") + 1] == "/etc/chaosgate/faults.json"
    assert {"name": "config", "configMap": {"name": "r1-engine"}} in pod["volumes"]
    assert {"name": "config", "mountPath": "/etc/chaosgate"} in pod["containers"][0]["volumeMounts"]
    config = cluster.get("ConfigMap", "r1-engine")
    assert config is not None
    told = EngineFaults.model_validate_json(config["data"]["faults.json"])
    assert [fault.name for fault in told.faults] == ["inside"]
    token = engine_token(run_token("k", "r1"))
    assert told.token_digest == token_digest(token)
    assert token not in config["data"]["faults.json"]


def test_what_is_under_test_gets_neither_the_key_nor_the_way_to_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, engine = started(monkeypatch, stream_spec(faults=(LATENCY, INSIDE), fits=(), objectives=OBJECTIVES[3:]))
    bring_up.start_gateway(cluster, "r1", OWN, drill(LOST), "http://r1-engine", {}, 60.0)
    gateway = cluster.get("Deployment", "r1-gateway")
    assert gateway is not None
    assert engine["containers"][0]["env"] == []
    assert gateway["spec"]["template"]["spec"]["containers"][0]["env"] == [KEY]
    sweeper = sweeper_job("r1", OWN, 60.0)
    assert sweeper["spec"]["template"]["spec"]["containers"][0]["env"] == [KEY, TRACKING], "it seals the record"


def test_without_a_key_the_engine_is_told_of_no_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    spec = stream_spec(faults=(LATENCY, INSIDE), fits=(), objectives=OBJECTIVES[3:])
    with pytest.raises(UsageError) as refused:
        bring_up.start_engine(FakeCluster(), "r1", OWN, spec, 60.0)
    assert str(refused.value) == (
        "environment variable CHAOSGATE_GATEWAY_KEY: holds no key from which the admin token could be derived"
    )


def test_an_engine_without_faults_of_its_own_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, pod = started(monkeypatch, drill(LOST))
    assert "--faults" not in pod["containers"][0]["command"]
    assert cluster.get("ConfigMap", "r1-engine") is None
