"""Of what a run starts by itself, only its engine may be hit: its gateway is the meeting point of the run."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_drills import LOST, drill
from fake_cluster import FakeCluster

from chaosgate.deploy.cluster import bring_up
from chaosgate.deploy.cluster.manifests import OwnPod

OWN = OwnPod("localhost/chaosgate:1", "IfNotPresent", "chaosgate")


def opted_in(manifest: dict[str, Any] | None) -> bool:
    assert manifest is not None
    return bool(manifest["spec"]["template"]["metadata"]["labels"].get("chaos-injectable") == "true")


def test_the_engine_may_be_hit_and_gateway_and_sweeper_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for wait in ("wait_ready", "wait_reachable"):
        monkeypatch.setattr(bring_up, wait, lambda *words: None)
    cluster, spec = FakeCluster(), drill(LOST)
    bring_up.start_engine(cluster, "r1", OWN, spec, 60.0)
    bring_up.start_gateway(cluster, "r1", OWN, spec, "http://engine", {}, 60.0)
    bring_up.arm_sweeper(cluster, "r1", OWN, 60.0)

    assert opted_in(cluster.get("Deployment", "r1-engine"))
    assert not opted_in(cluster.get("Deployment", "r1-gateway"))
    assert not opted_in(cluster.get("Job", "r1-sweeper"))
