"""What is taken away of a run, what is spared, and what is told of an object that does not go."""

from __future__ import annotations

from typing import Any

import pytest
from fake_cluster import FakeCluster

from chaosgate.cluster.names import RUN_LABEL, labels, object_name
from chaosgate.deploy.cluster import clean
from chaosgate.deploy.cluster.clean import GONE_SECONDS, KINDS, is_marked, remove_marker, remove_objects

RUN = "drill-1"


def thing(kind: str, role: str, run: str = RUN) -> dict[str, Any]:
    """An object of a run."""
    return {"kind": kind, "metadata": {"name": object_name(run, role), "labels": labels(run, role)}}


def step_pod() -> dict[str, Any]:
    """A pod of the workflow: it has the run's label, but no role."""
    return {"kind": "Pod", "metadata": {"name": f"{RUN}-deploy", "labels": {RUN_LABEL: RUN}}}


class Sticky(FakeCluster):
    """Services stay, as with a finalizer that nobody takes away."""

    def _delete(self, path: str, body: Any) -> Any:
        return {} if "/services/" in path else super()._delete(path, body)


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time passes only while somebody sleeps."""
    time = [0.0]
    monkeypatch.setattr(clean.time, "monotonic", lambda: time[0])
    monkeypatch.setattr(clean.time, "sleep", lambda seconds: time.__setitem__(0, time[0] + seconds))
    return time


def names(cluster: FakeCluster) -> set[str]:
    """Kind and name of what is there."""
    return {f"{one['kind']} {one['metadata']['name']}" for one in cluster.objects.values()} - {"Namespace chaos"}


def test_everything_of_the_run_goes_but_marker_sweeper_and_the_workflows_pods() -> None:
    spared = [thing("ConfigMap", "run"), thing("Job", "sweeper"), thing("Pod", "sweeper"), step_pod()]
    others = [thing(kind, "gateway", "drill-2") for kind in KINDS]
    own = [thing(kind, "gateway") for kind in KINDS]
    cluster = FakeCluster("chaos", *spared, *others, *own)
    removed, left = remove_objects(cluster, RUN)
    assert (removed, left) == ([f"{kind} drill-1-gateway" for kind in KINDS], [])
    assert names(cluster) == {f"{one['kind']} {one['metadata']['name']}" for one in (*spared, *others)}


def test_taking_away_what_is_gone_is_no_failure() -> None:
    assert remove_objects(FakeCluster("chaos"), RUN) == ([], [])


def test_what_does_not_go_is_told_after_a_while(now: list[float]) -> None:
    cluster = Sticky("chaos", thing("Service", "gateway"), thing("ConfigMap", "gateway"))
    removed, left = remove_objects(cluster, RUN)
    assert removed == ["Service drill-1-gateway", "ConfigMap drill-1-gateway"]
    assert left == ["Service drill-1-gateway"]
    assert GONE_SECONDS < now[0] < GONE_SECONDS + 5


def test_the_marker_goes_with_the_sweeper() -> None:
    cluster = FakeCluster("chaos", thing("ConfigMap", "run"), thing("Job", "sweeper"))
    assert is_marked(cluster, RUN)
    remove_marker(cluster, RUN)
    assert not is_marked(cluster, RUN)
    assert names(cluster) == set()
