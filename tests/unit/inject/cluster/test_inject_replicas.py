from __future__ import annotations

from cluster_targets import RUN
from fake_cluster import FakeCluster

from chaosgate.inject.cluster.notes import note_on
from chaosgate.inject.cluster.replicas import take
from chaosgate.inject.cluster.scene import Scene
from chaosgate.inject.cluster.undo import Place, undo
from chaosgate.model.change import Scale

DEPLOYMENTS = (Place("Deployment", "chaos"),)


def replicas(cluster: FakeCluster) -> int:
    found = cluster.get("Deployment", "engine")
    assert found is not None
    return int(found["spec"]["replicas"])


def test_a_deployment_is_scaled_down_and_its_note_written_in_one_call(cluster: FakeCluster, scene: Scene) -> None:
    assert take(scene, Scale("engine", 1))() == 1

    assert replicas(cluster) == 1
    assert cluster.calls == [("patch", "/apis/apps/v1/namespaces/chaos/deployments/engine")]
    note = note_on(cluster.get("Deployment", "engine") or {})
    assert note is not None
    assert (note.before, note.put) == ({"replicas": 2}, {"replicas": 1})


def test_more_than_there_are_leave_none(cluster: FakeCluster, scene: Scene) -> None:
    assert take(scene, Scale("engine", 5))() == 2
    assert replicas(cluster) == 0


def test_undoing_scales_back_up(cluster: FakeCluster, scene: Scene) -> None:
    take(scene, Scale("engine", 1))

    assert undo(cluster, RUN, DEPLOYMENTS) == (["scaled Deployment engine back to 2 replicas"], [])
    assert replicas(cluster) == 2
    assert undo(cluster, RUN, DEPLOYMENTS) == ([], [])


def test_who_has_scaled_since_is_not_overruled(cluster: FakeCluster, scene: Scene) -> None:
    take(scene, Scale("engine", 1))
    cluster.patch("Deployment", "engine", {"spec": {"replicas": 6}})

    assert undo(cluster, RUN, DEPLOYMENTS) == (
        ["left alone Deployment engine: it has 6 replicas, which somebody else has set"],
        [],
    )
    assert replicas(cluster) == 6
    assert note_on(cluster.get("Deployment", "engine") or {}) is None


def test_a_deployment_that_changes_between_reading_and_writing_is_read_again(
    cluster: FakeCluster, scene: Scene
) -> None:
    read = cluster.get

    def disturbed(kind: str, name: str, namespace: str | None = None) -> dict[str, object] | None:
        found = read(kind, name, namespace)
        if not cluster.calls:
            cluster.patch("Deployment", "engine", {"spec": {"replicas": 4}})
        return found

    cluster.get = disturbed  # type: ignore[method-assign]

    assert take(scene, Scale("engine", 1))() == 1
    assert replicas(cluster) == 3
