"""A run's own engine on a cluster in memory, whose kubelet does at once what it is asked."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_targets import RUN, engine_deployment, engine_pod
from fake_cluster import FakeCluster, node

from chaosgate.inject.cluster import scene as scene_module
from chaosgate.inject.cluster.scene import Scene


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene_module, "SHOWN_SECONDS", 0.02)
    monkeypatch.setattr(scene_module, "POLL", 0.0)


def kubelet(one: dict[str, Any]) -> None:
    """The limits of the spec are in force."""
    if one["kind"] == "Pod":
        one["status"]["containerStatuses"][0]["resources"] = one["spec"]["containers"][0]["resources"]


@pytest.fixture
def cluster() -> FakeCluster:
    nodes = [node("n0"), node("n1")]
    for one in nodes:
        one["metadata"]["resourceVersion"] = "1"
    found = FakeCluster("chaos", engine_pod("engine-a"), engine_pod("engine-b", node="n1"), engine_deployment(), *nodes)
    found.on_change = kubelet
    return found


@pytest.fixture
def scene(cluster: FakeCluster) -> Scene:
    return Scene(cluster, RUN, "mine", "chaos")
