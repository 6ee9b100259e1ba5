"""The image that the target runs belongs to the subject: read when it is brought up, and again after each phase."""

from __future__ import annotations

import asyncio

import pytest
from cluster_drills import SLOW, drill
from fake_cluster import IMAGE, FakeCluster, pod

from chaosgate.components import measure, on_cluster
from chaosgate.components.measure import Phase
from chaosgate.errors import DeployError
from chaosgate.model.fault import ClusterTarget
from chaosgate.model.result import Endpoint, SecretRef, Subject

PODS = ClusterTarget(namespace="chaos", labels={"app": "llm"})
SUBJECT = Subject(model="m", engine="e")
DIGEST = IMAGE.rpartition("@")[2]


def endpoint(target: ClusterTarget | None) -> Endpoint:
    return Endpoint(url="u", admin="a", token=SecretRef(file="t"), upstream="s", subject=SUBJECT, target=target)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    """A server of two pods that answers as it did."""
    found = FakeCluster("chaos", pod("llm-0", app="llm"), pod("llm-1", app="llm"))

    async def answered(url: str, model: str) -> Subject:
        return SUBJECT

    monkeypatch.setattr(on_cluster, "open_cluster", lambda: found)
    monkeypatch.setattr(measure, "read_subject", answered)
    return found


def read(target: ClusterTarget | None) -> Subject:
    return asyncio.run(Phase(drill(SLOW), endpoint(target), "block1", 1.0).read_subject())


def test_the_image_is_read_with_the_rest(cluster: FakeCluster) -> None:
    assert read(PODS) == SUBJECT.model_copy(update={"image_digest": DIGEST})


def test_another_image_is_another_subject(cluster: FakeCluster) -> None:
    other = pod("llm-1", app="llm")
    other["status"]["containerStatuses"][0]["imageID"] = "localhost/chaosgate@sha256:other"
    cluster.put(other)

    assert read(PODS).image_digest == f"sha256:{'a' * 64}, sha256:other"


def test_where_no_pods_are_known_nobody_asks_a_cluster(cluster: FakeCluster) -> None:
    cluster.forbidden.add(("*", "pods"))

    assert read(None) == SUBJECT


def test_pods_that_are_gone_are_no_subject(cluster: FakeCluster) -> None:
    with pytest.raises(DeployError, match="no running pod with the labels app=gone in namespace chaos"):
        read(ClusterTarget(namespace="chaos", labels={"app": "gone"}))
