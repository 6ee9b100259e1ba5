"""On a cluster the gateway is told of the filters and of the share that they let pass, as on one machine."""

from __future__ import annotations

import pytest
from fake_cluster import FakeCluster
from simulated_run import stream_spec

from chaosgate.deploy.cluster import bring_up
from chaosgate.deploy.cluster.bring_up import CONFIG_FILE
from chaosgate.deploy.cluster.manifests import OwnPod
from chaosgate.gateway.config import GatewayConfig
from chaosgate.tokens import KEY_VARIABLE

KEY = {"name": KEY_VARIABLE, "valueFrom": {"secretKeyRef": {"name": "chaosgate-gateway", "key": "key"}}}


def test_the_gateway_draws_whom_its_filters_let_pass_as_the_spec_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for wait in ("wait_ready", "wait_reachable"):
        monkeypatch.setattr(bring_up, wait, lambda *words: None)
    monkeypatch.setenv(KEY_VARIABLE, "k")
    cluster, spec = FakeCluster(), stream_spec(unguarded="12.5 %")
    own = OwnPod("localhost/chaosgate:1", "IfNotPresent", "chaosgate", environment=(KEY,))
    bring_up.start_gateway(cluster, "r1", own, spec, "http://engine", {}, 60.0)
    written = cluster.get("ConfigMap", "r1-gateway")
    assert written is not None
    told = GatewayConfig.model_validate_json(written["data"][CONFIG_FILE])
    assert ([one.kind for one in told.filters], told.unguarded, told.seed) == (["prompt-sanitiser"], 0.125, 7)
