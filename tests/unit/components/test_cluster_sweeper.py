"""The sweeper of a run on a cluster: when it acts, when it leaves a run alone, and that it does not give up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fake_cluster import FakeCluster

from chaosgate.cluster.names import labels, object_name
from chaosgate.components import cluster_sweeper
from chaosgate.components.cluster_sweeper import PAUSE, guard, watch
from chaosgate.errors import ClusterError
from chaosgate.model.result import EXIT_UNCLEAN, Cleanup

RUN = "drill-1"
MARKER = {"kind": "ConfigMap", "metadata": {"name": object_name(RUN, "run"), "labels": labels(RUN, "run")}, "data": {}}
NEVER = 1000.0
"""A deadline that no test reaches by itself."""
CLEAN = Cleanup(clean=True, actions=(), left=(), record_digest=None)
UNCLEAN = CLEAN.model_copy(update={"clean": False, "left": ("Service drill-1-gateway",)})


def workflow(phase: str | None, **labelled: str) -> dict[str, Any]:
    """The run's workflow; `phase` None before its controller saw it."""
    status = {} if phase is None else {"phase": phase}
    return {"kind": "Workflow", "metadata": {"name": RUN, "labels": labelled}, "status": status}


class World:
    """A cluster in which something happens at each look: `events` are done one after the other."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *events: Callable[[FakeCluster], None]) -> None:
        self.cluster = FakeCluster("chaos", MARKER)
        self.now, self.events = 0.0, list(events)
        monkeypatch.setattr(cluster_sweeper, "open_cluster", lambda: self.cluster)
        monkeypatch.setattr(cluster_sweeper.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(cluster_sweeper.time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        """Time passes, and the next thing happens."""
        self.now += seconds
        if self.events:
            self.events.pop(0)(self.cluster)


def becomes(phase: str | None) -> Callable[[FakeCluster], None]:
    """The workflow is in this phase from now on."""
    return lambda cluster: cluster.put(workflow(phase))


def is_deleted(cluster: FakeCluster) -> None:
    """Somebody deletes the workflow."""
    cluster.delete("Workflow", RUN)


def is_over(cluster: FakeCluster) -> None:
    """The exit handler has taken the marker away."""
    cluster.delete("ConfigMap", object_name(RUN, "run"))


def test_a_run_that_ends_by_itself_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    World(monkeypatch, becomes(None), becomes("Running"), is_over)
    assert watch(RUN, NEVER, carried=False) is None
    assert guard(RUN, NEVER, carried=False) == 0


@pytest.mark.parametrize("phase", ["Succeeded", "Failed", "Error"])
def test_a_workflow_that_has_ended_and_left_its_run_is_swept_after(phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    World(monkeypatch, becomes("Running"), becomes(phase))
    assert watch(RUN, NEVER, carried=False) == f"the workflow has ended ({phase}) and left the run behind"


def test_a_workflow_that_is_deleted_is_swept_after(monkeypatch: pytest.MonkeyPatch) -> None:
    World(monkeypatch, becomes("Running"), is_deleted)
    assert watch(RUN, NEVER, carried=False) == "the workflow is gone"


def test_a_workflow_may_be_gone_before_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    World(monkeypatch)
    assert watch(RUN, NEVER, carried=True) == "the workflow is gone"


def test_a_run_that_no_workflow_carries_misses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch)
    assert watch(RUN, 60.0, carried=False) == "the run did not end in time"
    assert world.now >= 60.0


def test_where_nothing_serves_workflows_only_the_deadline_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    World(monkeypatch).cluster.unserved.add("workflows")
    assert watch(RUN, 60.0, carried=False) == "the run did not end in time"


def test_a_workflow_that_pipelines_made_is_known_by_its_label(monkeypatch: pytest.MonkeyPatch) -> None:
    named = workflow("Failed", **{cluster_sweeper.KFP_RUN_LABEL: RUN})
    named["metadata"]["name"] = "drill-abcde"
    World(monkeypatch, lambda cluster: cluster.put(named))
    assert watch(RUN, NEVER, carried=False) == "the workflow has ended (Failed) and left the run behind"


def test_an_api_server_that_does_not_answer_ends_no_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def falls(cluster: FakeCluster) -> None:
        cluster.forbidden.add(("get", "configmaps"))

    def stands(cluster: FakeCluster) -> None:
        cluster.forbidden.clear()

    World(monkeypatch, becomes("Running"), falls, stands, is_over)
    assert watch(RUN, NEVER, carried=False) is None
    assert "refused with 403" in capsys.readouterr().err


def sweeping(monkeypatch: pytest.MonkeyPatch, *answers: Cleanup | ClusterError) -> list[str]:
    """Each attempt to clean up ends as the next of `answers`, the last one for ever; the runs that were cleaned."""
    asked: list[str] = []

    def clean_up(run: str) -> tuple[Cleanup, str]:
        answer = answers[min(len(asked), len(answers) - 1)]
        asked.append(run)
        if isinstance(answer, ClusterError):
            raise answer
        return answer, "sha256:0"

    monkeypatch.setattr(cluster_sweeper.on_cluster, "clean_up", clean_up)
    return asked


def test_the_sweeper_tries_until_the_run_is_clean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = sweeping(monkeypatch, ClusterError("the API does not answer"), UNCLEAN, CLEAN)
    world = World(monkeypatch, becomes("Running"), is_deleted)
    assert guard(RUN, NEVER, carried=False) == 0
    assert asked == [RUN] * 3
    assert world.now >= 2 * PAUSE
    assert [line.removeprefix("sweeper: ") for line in capsys.readouterr().err.splitlines()] == [
        "the workflow is gone: cleaning up",
        "the API does not answer",
        "left behind: Service drill-1-gateway",
    ]


def test_after_its_deadline_it_tries_once_and_says_that_the_run_is_not_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = sweeping(monkeypatch, UNCLEAN)
    World(monkeypatch)
    assert guard(RUN, 30.0, carried=False) == EXIT_UNCLEAN
    assert asked == [RUN]
