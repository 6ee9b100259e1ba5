from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from fake_cluster import FakeCluster

from chaosgate.errors import ClusterError
from chaosgate.inject.cluster import pods
from chaosgate.inject.cluster.scene import Scene
from chaosgate.model.change import DeletePod, KillContainer

KILL = KillContainer("engine-a", "uid-engine-a", "engine", "TERM")


def test_a_pod_is_deleted_and_seen_to_be_gone(cluster: FakeCluster, scene: Scene) -> None:
    assert pods.delete(scene, DeletePod("engine-a", "uid-engine-a", 0))() == 1
    assert cluster.get("Pod", "engine-a") is None


@pytest.mark.parametrize("change", [DeletePod("engine-a", "another", 0), DeletePod("nobody", "uid-x", 0)])
def test_a_pod_that_is_not_the_one_that_was_meant_stays(cluster: FakeCluster, scene: Scene, change: DeletePod) -> None:
    assert pods.delete(scene, change)() == 0
    assert cluster.get("Pod", "engine-a") is not None


def commanded(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch, status: dict[str, Any]) -> list[Sequence[str]]:
    """The commands that are run; the container has `status` afterwards."""
    said: list[Sequence[str]] = []

    def run_command(asked: object, pod: str, container: str, argv: Sequence[str], namespace: str) -> None:
        said.append(argv)
        cluster.objects[f"/api/v1/namespaces/{namespace}/pods/{pod}"]["status"]["containerStatuses"] = [status]

    monkeypatch.setattr(pods, "run_command", run_command)
    return said


def test_the_main_process_gets_the_signal_and_the_pod_says_that_it_died(
    cluster: FakeCluster, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = commanded(cluster, monkeypatch, {"restartCount": 0, "state": {"terminated": {}}})

    assert pods.kill(scene, KILL)() == 1
    assert said == [("sh", "-c", "kill -TERM 1")]


def test_a_process_that_ignores_the_signal_is_not_counted(
    cluster: FakeCluster, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    commanded(cluster, monkeypatch, {"restartCount": 0, "state": {"running": {}}})
    assert pods.kill(scene, KILL)() == 0


def test_a_container_without_a_shell_is_named(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*words: object) -> None:
        raise ClusterError("exec in pod engine-a: no such file")

    monkeypatch.setattr(pods, "run_command", refused)
    with pytest.raises(ClusterError) as error:
        pods.kill(scene, KILL)
    assert str(error.value) == (
        "exec in pod engine-a: no such file; container.kill runs `sh` in the container, and its user must be that of "
        "the main process"
    )
