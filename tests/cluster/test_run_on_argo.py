"""`chaosgate run --on argo` and the commands on such a run, against a real Argo."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest
from cluster_rig import Command, Ground, Run, write_profile, write_spec

from chaosgate.artifacts import RECORD, SEAL, VERDICT, read_document

STEPS = ["deploy", "baseline-measure", "block1-measure", "block1-inject", "conclude", "gate", "cleanup"]
LONG = "20s"
"""Windows long enough to end a run within them."""

pytestmark = pytest.mark.slow


def folder_of(chaosgate: Command) -> Path:
    """The folder of the only run that was started from here."""
    (folder,) = (chaosgate.state / "runs").iterdir()
    return folder


def run_of(cluster: Ground, namespace: str, chaosgate: Command) -> Run:
    """That run as the cluster has it."""
    return Run(cluster, namespace, folder_of(chaosgate).name)


def detach(chaosgate: Command, spec: Path, profile: Path) -> str:
    """Submit a spec; the run's id."""
    done = chaosgate("run", spec, "--on", "argo", "--profile", profile, "--detach", "-o", "json")
    return str(json.loads(done.stdout)["run"])


@pytest.mark.timeout(600)
def test_a_run_ends_with_its_verdict_and_its_files_lie_here(
    cluster: Ground, namespace: str, profile: Path, chaosgate: Command, tmp_path: Path
) -> None:
    done = chaosgate("run", write_spec(tmp_path), "--on", "argo", "--profile", profile, code=1)
    run = run_of(cluster, namespace, chaosgate)
    said = done.stdout
    for step in STEPS:
        assert said.index(f"{step} started") < said.index(f"{step} ended")
    assert "gate ended with exit code 1" in said
    assert "requests  TTFT p99" in said, "no live numbers were shown"
    assert "cleanup: clean, nothing left behind" in said
    folder = folder_of(chaosgate)
    assert read_document(folder / "conclude" / VERDICT.file, VERDICT).verdict == "fail"
    assert read_document(folder / "cleanup" / SEAL.file, SEAL).clean
    assert (folder / "block1-measure" / "ledger.jsonl").exists()
    assert "verdict    fail" in chaosgate("status", run.run).stdout
    assert "cleanup: removed Deployment" in chaosgate("logs", run.run, "cleanup").stdout
    assert chaosgate("report", run.run, "--format", "json").stdout.startswith("{")
    chaosgate("record", run.run)
    assert run.tags()["chaosgate.seal"] == "clean"
    run.gone()


@pytest.mark.timeout(600)
def test_a_detached_run_is_looked_at_and_aborted_with_a_reason(
    cluster: Ground, namespace: str, profile: Path, chaosgate: Command, tmp_path: Path
) -> None:
    run = detach(chaosgate, write_spec(tmp_path, hold=LONG), profile)
    there = Run(cluster, namespace, run)
    there.fault_on()
    shown = chaosgate("status", run).stdout
    assert "state      running" in shown
    assert "lost-line" in shown, "the window that is on is not shown"
    assert "gateway (Running)" in shown
    assert chaosgate("status", run, "--on", "argo", "--state", tmp_path / "elsewhere").stdout.startswith(
        f"run        {run}"
    )
    done = chaosgate("abort", run, "--reason", "the pager: went off")
    assert "the pager: went off" in done.stdout
    assert "cleanup: clean, nothing left behind" in done.stdout
    record = read_document(folder_of(chaosgate) / "conclude" / RECORD.file, RECORD)
    assert record.verdict == "error"
    assert record.reasons[0].text.endswith("the pager: went off")
    tags = there.tags()
    assert (tags["chaosgate.verdict"], tags["chaosgate.seal"]) == ("error", "clean")
    assert "state      interrupted" in chaosgate("status", run).stdout
    again = chaosgate("attach", run, code=128 + signal.SIGTERM)
    assert "the pager: went off" in again.stdout
    there.gone()


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_ctrl_c_ends_the_run_and_waits_for_its_cleanup(
    cluster: Ground, namespace: str, profile: Path, chaosgate: Command, tmp_path: Path
) -> None:
    spec = write_spec(tmp_path, hold=LONG)
    child = chaosgate.start("run", spec, "--on", "argo", "--profile", profile, stdout=subprocess.PIPE)
    cluster.eventually(lambda: list((chaosgate.state / "runs").glob("*")), "the run's folder")
    run = run_of(cluster, namespace, chaosgate)
    run.fault_on()
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=300)
    assert child.returncode == 128 + signal.SIGINT, said
    assert "asked the cluster to stop the run; waiting for its cleanup" in said
    assert "verdict: error: interrupted by SIGINT before there was a verdict" in said
    assert "cleanup: clean, nothing left behind" in said
    run.gone()


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_a_run_whose_cleanup_never_ran_is_cleaned_up_from_here(
    cluster: Ground, namespace: str, profile: Path, chaosgate: Command, tmp_path: Path
) -> None:
    run = detach(chaosgate, write_spec(tmp_path, hold=LONG), profile)
    there = Run(cluster, namespace, run)
    there.fault_on()
    there.shut_down("Terminate")
    there.wait()
    seal = json.loads(chaosgate("cleanup", run, "-o", "json").stdout)
    assert seal["clean"]
    there.gone()
    assert "seal       clean" in chaosgate("status", run).stdout


@pytest.mark.timeout(600)
def test_a_schedule_is_made_suspended_resumed_and_fires(
    cluster: Ground, namespace: str, profile: Path, chaosgate: Command, tmp_path: Path
) -> None:
    spec = write_spec(tmp_path, name="nightly")
    spec.write_text(spec.read_text() + '  schedule: {cron: "0 3 * * *"}\n')
    words = (spec, "--profile", profile)
    made = chaosgate("schedule", *words).stdout
    assert made.startswith(f"schedule nightly in namespace {namespace}: 0 3 * * * (UTC), on, no run yet")
    assert "suspended" in chaosgate("schedule", *words, "--suspend").stdout
    assert ", on," in chaosgate("schedule", *words, "--resume").stdout
    path = cluster.api.path("argoproj.io/v1alpha1", "CronWorkflow", namespace, "nightly")
    cluster.api.patch(path, {"spec": {"schedules": ["* * * * *"]}})

    def fired() -> list[str]:
        listed = chaosgate("status", "--on", "argo", "-o", "json").stdout
        return [line["run"] for line in json.loads(listed) if line["spec"] == "nightly"]

    run, *_ = cluster.eventually(fired, "a run of the schedule", 150)
    chaosgate("schedule", *words, "--suspend")
    refused = chaosgate("schedule", *words, "--remove", code=3)
    assert f"the schedule nightly has a run that goes on: {run}" in refused.stderr
    chaosgate("abort", run, "--on", "argo", "--reason", "seen enough")
    cluster.eventually(lambda: chaosgate("schedule", *words, "--remove", code=None).returncode == 0, "the removal", 60)
    assert "has no schedule nightly" in chaosgate("schedule", *words, "--show", code=3).stderr


@pytest.mark.timeout(120)
def test_what_the_namespace_lacks_is_said_before_anything_is_submitted(
    cluster: Ground, namespace: str, profile: Path, chaosgate: Command, tmp_path: Path
) -> None:
    cluster.api.delete(f"/api/v1/namespaces/{namespace}/secrets/chaosgate-gateway")
    done = chaosgate("run", write_spec(tmp_path), "--on", "argo", "--profile", profile, code=3)
    assert f"namespace {namespace} has no Secret chaosgate-gateway with the key 'key'" in done.stderr
    assert "kubectl create secret generic chaosgate-gateway" in done.stderr
    assert not list((chaosgate.state / "runs").glob("*"))
    assert json.loads(chaosgate("status", "--on", "argo", "-o", "json").stdout) == []


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_an_image_that_is_not_there_ends_the_run_with_the_reason(
    cluster: Ground, namespace: str, chaosgate: Command, tmp_path: Path
) -> None:
    profile = write_profile(tmp_path, cluster, namespace, image="localhost/nobody:1", pullPolicy="Never")
    done = chaosgate("run", write_spec(tmp_path), "--on", "argo", "--profile", profile, code=3)
    assert "deploy does not start: ErrImageNeverPull" in done.stdout
    assert "problem: the pod of deploy cannot start: ErrImageNeverPull" in done.stdout
    assert "cleanup: clean, nothing left behind" in done.stdout
