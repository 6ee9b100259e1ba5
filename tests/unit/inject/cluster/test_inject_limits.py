"""Limits that are cut in place, and given back unless somebody else has changed them."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_targets import RUN
from fake_cluster import FakeCluster

from chaosgate.errors import ClusterError
from chaosgate.inject.cluster.limits import cut
from chaosgate.inject.cluster.notes import note_on
from chaosgate.inject.cluster.scene import Scene
from chaosgate.inject.cluster.undo import Place, undo
from chaosgate.model.change import SetLimit

PODS = (Place("Pod", "chaos"),)
HALF = SetLimit("engine-a", "uid-engine-a", "engine", "cpu", 0.05)
"""Below the request of 100m, which comes down with it."""


def pod(cluster: FakeCluster, name: str = "engine-a") -> dict[str, Any]:
    found = cluster.get("Pod", name)
    assert found is not None
    return found


def resources(cluster: FakeCluster) -> dict[str, Any]:
    found: dict[str, Any] = pod(cluster)["spec"]["containers"][0]["resources"]
    return found


def test_a_limit_is_cut_and_the_pod_says_what_was_there(cluster: FakeCluster, scene: Scene) -> None:
    assert cut(scene, HALF)() == 1

    assert resources(cluster) == {"limits": {"cpu": "50m"}, "requests": {"cpu": "50m"}}
    note = note_on(pod(cluster))
    assert note is not None
    assert (note.run, note.fault, note.change) == (RUN, "mine", "limit")
    assert note.before == {"container": "engine", "resource": "cpu", "limit": "2", "request": "100m"}
    assert pod(cluster)["metadata"]["labels"]["chaosgate/hit"] == RUN


def test_the_note_is_there_before_the_limit_is_cut(cluster: FakeCluster, scene: Scene) -> None:
    cut(scene, HALF)
    changed = [path for verb, path in cluster.calls if verb == "patch"]
    assert changed == ["/api/v1/namespaces/chaos/pods/engine-a", "/api/v1/namespaces/chaos/pods/engine-a/resize"]


def test_undoing_gives_back_limit_and_request_and_takes_the_note_away(cluster: FakeCluster, scene: Scene) -> None:
    cut(scene, HALF)

    assert undo(cluster, RUN, PODS) == (["gave back the cpu limit of pod engine-a: 2"], [])
    assert resources(cluster) == {"limits": {"cpu": "2"}, "requests": {"cpu": "100m"}}
    assert note_on(pod(cluster)) is None
    assert "chaosgate/hit" not in pod(cluster)["metadata"]["labels"]


def test_undoing_twice_changes_nothing_more(cluster: FakeCluster, scene: Scene) -> None:
    cut(scene, HALF)
    undo(cluster, RUN, PODS)
    before = len(cluster.calls)

    assert undo(cluster, RUN, PODS) == ([], [])
    assert len(cluster.calls) == before


def test_a_limit_that_was_not_cut_after_all_is_what_it_was(cluster: FakeCluster, scene: Scene) -> None:
    """The injector died between its note and its change."""
    cut(scene, HALF)
    cluster.patch("Pod", "engine-a", {"spec": {"containers": [{**pod(cluster, "engine-b")["spec"]["containers"][0]}]}})

    done, left = undo(cluster, RUN, PODS)

    assert (done, left) == (["gave back the cpu limit of pod engine-a: 2"], [])
    assert [path for _, path in cluster.calls].count("/api/v1/namespaces/chaos/pods/engine-a/resize") == 1


def test_what_somebody_else_has_set_is_left_alone(cluster: FakeCluster, scene: Scene) -> None:
    cut(scene, HALF)
    other = {**pod(cluster)["spec"]["containers"][0], "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}}
    cluster.patch("Pod", "engine-a", {"spec": {"containers": [other]}})

    assert undo(cluster, RUN, PODS) == (
        ["left alone the cpu limit of pod engine-a: somebody else has changed it"],
        [],
    )
    assert resources(cluster)["limits"] == {"cpu": "1"}
    assert note_on(pod(cluster)) is None


def test_a_kubelet_that_does_not_follow_leaves_the_change_unproved(cluster: FakeCluster, scene: Scene) -> None:
    cluster.on_change = lambda one: None
    assert cut(scene, HALF)() == 0


def test_a_kubelet_that_does_not_give_back_leaves_the_note(cluster: FakeCluster, scene: Scene) -> None:
    cut(scene, HALF)
    cluster.on_change = lambda one: None

    assert undo(cluster, RUN, PODS) == (
        [],
        ["the cpu limit of pod engine-a was to go back to 2; its kubelet does not report that"],
    )
    assert note_on(pod(cluster)) is not None


def test_another_pod_of_that_name_is_not_touched(cluster: FakeCluster, scene: Scene) -> None:
    assert cut(scene, SetLimit("engine-a", "another", "engine", "cpu", 1.0))() == 0
    assert cluster.calls == []


def test_a_pod_that_went_takes_the_change_with_it(cluster: FakeCluster, scene: Scene) -> None:
    cut(scene, HALF)
    cluster.delete("Pod", "engine-a")
    assert undo(cluster, RUN, PODS) == ([], [])


@pytest.mark.parametrize("run", ["other-run", RUN])
def test_a_pod_that_a_fault_has_changed_is_not_changed_again(cluster: FakeCluster, scene: Scene, run: str) -> None:
    """What was there before would be lost."""
    cut(Scene(cluster, run, "theirs", "chaos"), HALF)

    with pytest.raises(ClusterError) as refused:
        cut(scene, HALF)

    assert str(refused.value) == (
        f"Pod engine-a is changed by run {run} (fault theirs); wait for its end, or clean it up: "
        f"chaosgate cleanup {run}"
    )


def test_a_server_without_resize_is_said_to_be_too_old(cluster: FakeCluster, scene: Scene) -> None:
    cluster.unserved.add("pods/resize")
    with pytest.raises(ClusterError, match=r"^pod engine-a: its limits cannot be changed while it runs; Kubernetes"):
        cut(scene, HALF)


def test_a_note_that_cannot_be_read_is_left_for_people(cluster: FakeCluster, scene: Scene) -> None:
    cut(scene, HALF)
    cluster.patch("Pod", "engine-a", {"metadata": {"annotations": {"chaosgate/undo": "{"}}})

    done, left = undo(cluster, RUN, PODS)

    assert done == []
    assert left[0].startswith("Pod engine-a: its annotation chaosgate/undo cannot be read: ")
    assert left[0].endswith("; restore it by hand and remove annotation and label chaosgate/hit")
