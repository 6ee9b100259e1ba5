"""Schedules on a cluster: made, changed, taken away, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_cluster import FakeCluster
from small_drill import write_spec

from chaosgate.compile.argo import compile_argo_cron
from chaosgate.errors import ClusterError
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.planner import CLUSTER, make_plan
from chaosgate.submit.argo.schedules import apply_schedule, read_schedule, remove_schedule, suspend_schedule

PATH = "/apis/argoproj.io/v1alpha1/namespaces/chaos/cronworkflows/small-drill"
UNKNOWN = (
    "namespace chaos of https://fake.invalid:6443 has no schedule small-drill; its schedules: {}; "
    "make it: chaosgate schedule SPEC"
)


def text(folder: Path, schedule: str) -> str:
    file = write_spec(folder)
    file.write_text(file.read_text() + f"  schedule: {schedule}\n")
    spec = load_spec(file)
    return compile_argo_cron(make_plan(spec, CLUSTER), spec, Carrier())


@pytest.fixture
def cluster(tmp_path: Path) -> FakeCluster:
    made = FakeCluster()
    apply_schedule(made, text(tmp_path, '{cron: "0 3 * * *"}'))
    return made


def test_a_schedule_is_made_in_the_cluster_s_namespace(cluster: FakeCluster) -> None:
    found = read_schedule(cluster, "small-drill")
    assert found.to_json() == {
        "name": "small-drill",
        "namespace": "chaos",
        "cron": "0 3 * * *",
        "suspended": False,
        "lastRun": None,
        "problems": [],
    }


def test_applying_again_brings_it_to_what_the_spec_says(cluster: FakeCluster, tmp_path: Path) -> None:
    suspend_schedule(cluster, "small-drill", True)
    assert read_schedule(cluster, "small-drill").suspended
    changed = apply_schedule(cluster, text(tmp_path, '{cron: "@weekly"}'))
    assert (changed.cron, changed.suspended) == ("@weekly", False)


def test_suspend_and_resume_change_nothing_else(cluster: FakeCluster) -> None:
    before = cluster.objects[PATH]
    assert suspend_schedule(cluster, "small-drill", True).suspended
    assert not suspend_schedule(cluster, "small-drill", False).suspended
    assert cluster.objects[PATH] == before


def test_what_argo_says_of_it_is_passed_on(cluster: FakeCluster) -> None:
    cluster.objects[PATH]["status"] = {
        "lastScheduledTime": "2027-01-15T03:00:00Z",
        "conditions": [{"type": "SubmissionError", "message": "workflows is forbidden"}],
    }
    found = read_schedule(cluster, "small-drill")
    assert (found.last, found.problems) == ("2027-01-15T03:00:00Z", ("workflows is forbidden",))


def test_a_schedule_with_a_run_that_goes_on_is_not_removed(cluster: FakeCluster) -> None:
    cluster.objects[PATH]["status"] = {"active": [{"name": "small-drill-1796000000"}]}
    with pytest.raises(ClusterError) as error:
        remove_schedule(cluster, "small-drill")
    assert str(error.value) == (
        "the schedule small-drill has a run that goes on: small-drill-1796000000; wait for it, or end it: "
        "chaosgate abort small-drill-1796000000 --on argo --namespace chaos"
    )
    assert PATH in cluster.objects


def test_a_schedule_that_is_not_there_is_answered_with_those_that_are(cluster: FakeCluster) -> None:
    remove_schedule(cluster, "small-drill")
    assert PATH not in cluster.objects
    cluster.put({"kind": "CronWorkflow", "metadata": {"name": "nightly"}})
    for call in (read_schedule, remove_schedule, lambda one, name: suspend_schedule(one, name, True)):
        with pytest.raises(ClusterError) as error:
            call(cluster, "small-drill")
        assert str(error.value) == UNKNOWN.format("nightly")
