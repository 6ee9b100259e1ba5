"""Whatever ends a run early, nothing of it stays on the cluster, and its record says that it was not finished."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from cluster_ground import Ground
from cluster_rig import Command, Run, Submit, write_spec

LONG = "6s"
"""A window in which there is time to end the run while its fault is on."""
BUILT_UP = 3
"""Objects of a run from which on deploy has started something: its marker and its sweeper are two."""


def ended_early(run: Run) -> None:
    """Nothing of the run is left, and MLflow knows it as an error, sealed clean."""
    run.gone()
    assert {"chaosgate.verdict": "error", "chaosgate.seal": "clean"}.items() <= run.sealed().items()


def long_run(submit: Submit, folder: Path, **more: Any) -> Run:
    """A run whose fault stays on for a while."""
    return submit(write_spec(folder, hold=LONG), **more)


def test_a_pod_that_injects_is_killed(submit: Submit, tmp_path: Path) -> None:
    run = long_run(submit, tmp_path)
    run.fault_on()
    run.kill("block1-inject")
    finished = run.wait()
    assert (finished.phase, finished.ends()["cleanup"]) == ("Failed", "Succeeded")
    ended_early(run)
    # Argo makes the pod anew: the step then finds that it has been there.
    assert "nothing is measured or injected twice" in str(finished.verdict(tmp_path).reasons)


def test_the_workflow_is_terminated(submit: Submit, tmp_path: Path) -> None:
    """Argo runs no exit handler then: the sweeper has to see it."""
    run = long_run(submit, tmp_path)
    run.fault_on()
    run.shut_down("Terminate")
    assert "cleanup" not in run.wait().ends()
    ended_early(run)


def test_the_workflow_is_deleted(submit: Submit, tmp_path: Path) -> None:
    run = long_run(submit, tmp_path)
    run.fault_on()
    run.delete()
    ended_early(run)
    assert run.workflow() is None


@pytest.mark.thorough
def test_the_workflow_is_deleted_before_the_sweeper_has_seen_it(
    cluster: Ground, submit: Submit, tmp_path: Path
) -> None:
    run = submit(write_spec(tmp_path))
    cluster.eventually(lambda: f"Job {run.run}-sweeper" in run.objects(), "the sweeper")
    run.delete()
    run.gone()


@pytest.mark.thorough
def test_the_workflow_is_stopped(submit: Submit, tmp_path: Path) -> None:
    run = long_run(submit, tmp_path)
    run.fault_on()
    run.shut_down("Stop")
    assert run.wait().ends()["cleanup"] == "Succeeded"
    ended_early(run)


@pytest.mark.thorough
def test_a_pod_that_deploys_is_killed(cluster: Ground, submit: Submit, tmp_path: Path) -> None:
    run = submit(write_spec(tmp_path))
    run.pod("deploy")
    cluster.eventually(lambda: len(run.objects()) > BUILT_UP, "something that deploy has started")
    run.kill("deploy")
    assert run.wait().ends()["cleanup"] == "Succeeded"
    ended_early(run)


@pytest.mark.thorough
@pytest.mark.parametrize("step", ["baseline-measure", "block1-measure"])
def test_a_pod_that_measures_is_killed(step: str, submit: Submit, tmp_path: Path) -> None:
    run = long_run(submit, tmp_path)
    run.told(step, "load")
    run.kill(step)
    assert run.wait().ends()["cleanup"] == "Succeeded"
    ended_early(run)


@pytest.mark.thorough
def test_the_pod_that_concludes_is_killed(submit: Submit, tmp_path: Path) -> None:
    """Argo makes it anew, and it comes to the same verdict; a carrier that does not leaves the run unfinished."""
    run = submit(write_spec(tmp_path))
    run.kill("conclude")
    assert run.wait().ends()["cleanup"] == "Succeeded"
    run.gone()
    tags = run.sealed()
    assert tags["chaosgate.verdict"] in ("fail", "error")
    assert tags["chaosgate.seal"] == "clean"


@pytest.mark.thorough
def test_the_pod_that_cleans_up_is_killed(submit: Submit, tmp_path: Path) -> None:
    """The run was over, so its verdict stands; what the exit handler left the sweeper takes away."""
    run = submit(write_spec(tmp_path))
    run.kill("cleanup")
    run.wait()
    run.gone()
    assert {"chaosgate.verdict": "fail", "chaosgate.seal": "clean"}.items() <= run.sealed().items()


@pytest.mark.thorough
def test_the_deadline_of_the_workflow_passes(submit: Submit, tmp_path: Path) -> None:
    def soon(workflow: dict[str, Any]) -> None:
        workflow["spec"]["activeDeadlineSeconds"] = 40

    run = submit(write_spec(tmp_path, hold="30s"), change=soon)
    finished = run.wait()
    assert (finished.phase, finished.ends()["cleanup"]) == ("Failed", "Succeeded")
    ended_early(run)


@pytest.mark.thorough
def test_the_deadline_of_the_sweeper_passes(submit: Submit, tmp_path: Path) -> None:
    """A workflow that never ends is not waited for."""

    def soon(workflow: dict[str, Any]) -> None:
        graph = next(one for one in workflow["spec"]["templates"] if "dag" in one)
        deploy = next(task for task in graph["dag"]["tasks"] if task["name"] == "deploy")
        seconds = next(one for one in deploy["arguments"]["parameters"] if one["name"] == "seconds")
        seconds["value"] = "150.000"

    run = submit(write_spec(tmp_path, hold="60s"), change=soon)
    run.told("block1-inject", "window", lambda told: told["dose"] >= 0)
    run.gone()
    assert run.phase() == "Running"
    ended_early(run)


@pytest.mark.thorough
def test_the_workflow_controller_is_restarted(cluster: Ground, submit: Submit, tmp_path: Path) -> None:
    """A run does not notice: its steps are pods, and their results wait to be read."""
    run = long_run(submit, tmp_path)
    run.fault_on()
    cluster.restart_controller()
    finished = run.wait()
    run.gone()
    assert finished.verdict(tmp_path).verdict == "fail"
    assert {"chaosgate.verdict": "fail", "chaosgate.seal": "clean"}.items() <= run.sealed().items()


@pytest.mark.thorough
def test_the_command_that_submitted_is_killed(
    cluster: Ground, namespace: str, profile: Path, chaosgate: Command, tmp_path: Path
) -> None:
    """The cluster needs nobody who watches: the run comes to its verdict all the same."""
    words = ("run", write_spec(tmp_path, hold=LONG), "--on", "argo", "--profile", profile)
    with chaosgate.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        runs = chaosgate.state / "runs"
        folder = cluster.eventually(lambda: next(runs.glob("*"), None), "the folder of the run")
        run = Run(cluster, namespace, folder.name)
        run.fault_on()
        command.kill()
    assert run.wait().verdict(tmp_path).verdict == "fail"
    run.gone()
    assert {"chaosgate.verdict": "fail", "chaosgate.seal": "clean"}.items() <= run.sealed().items()
    assert "verdict    fail" in chaosgate("status", run.run).stdout


@pytest.mark.thorough
def test_what_cannot_be_taken_away_is_told(cluster: Ground, submit: Submit, tmp_path: Path) -> None:
    """An object that does not go away seals the run unclean, with exit code 4; the sweeper goes on until it is gone."""
    run = long_run(submit, tmp_path)
    run.fault_on()
    name = f"{run.run}-gateway"
    path = f"/api/v1/namespaces/{run.namespace}/services/{name}"
    cluster.api.patch(path, {"metadata": {"finalizers": ["tests/held"]}})
    try:
        finished = run.wait()
        seal = finished.seal(tmp_path)
        assert (finished.phase, finished.ends()["cleanup"]) == ("Failed", "Failed")
        assert finished.nodes["cleanup"]["outputs"]["exitCode"] == "4"
        assert (seal.clean, seal.left) == (False, (f"Service {name}",))
        assert run.tags()["chaosgate.seal"] == "unclean"
    finally:
        cluster.api.patch(path, {"metadata": {"finalizers": None}})
    run.gone()
    assert run.sealed()["chaosgate.seal"] == "clean"
