"""The command `schedule`, and `compile` of a spec with a schedule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from argo_run import ready_cluster
from click.testing import CliRunner, Result
from fake_cluster import FakeCluster
from small_drill import write_spec

from chaosgate.cli.main import chaosgate

ON = """\
schedule small-drill in namespace chaos: 0 3 * * * (UTC), {}, no run yet
its runs: chaosgate status --on argo --namespace chaos
"""


def call(*words: object) -> Result:
    return CliRunner().invoke(chaosgate, [str(word) for word in words])


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    found = ready_cluster()

    def opened(namespace: str | None = None) -> Any:
        found.namespace = namespace or "chaos"
        return found

    monkeypatch.setattr("chaosgate.cluster.api.open_cluster", opened)
    return found


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = write_spec(tmp_path)
    file.write_text(file.read_text() + '  schedule: {cron: "0 3 * * *"}\n')
    return file


def test_a_schedule_is_made_suspended_resumed_shown_and_removed(cluster: FakeCluster, spec: Path) -> None:
    assert call("schedule", spec).stdout == ON.format("on")
    assert call("schedule", spec, "--suspend").stdout == ON.format("suspended")
    assert call("schedule", spec, "--show").stdout == ON.format("suspended")
    assert call("schedule", spec, "--resume").stdout == ON.format("on")
    removed = call("schedule", spec, "--remove")
    assert removed.stdout == "removed the schedule small-drill from namespace chaos\n"
    assert call("schedule", spec, "--show").exit_code == 3


def test_the_same_for_machines(cluster: FakeCluster, spec: Path) -> None:
    made = json.loads(call("schedule", spec, "-o", "json").stdout)
    assert made["schedule"]["cron"] == "0 3 * * *"
    assert json.loads(call("schedule", spec, "--remove", "-o", "json").stdout) == {"schedule": None}


def test_what_argo_says_is_wrong_is_shown(cluster: FakeCluster, spec: Path) -> None:
    call("schedule", spec)
    path = "/apis/argoproj.io/v1alpha1/namespaces/chaos/cronworkflows/small-drill"
    cluster.objects[path]["status"] = {"conditions": [{"message": "no such account"}]}
    assert "problem: no such account\n" in call("schedule", spec, "--show").stdout


def test_a_cluster_that_cannot_run_it_is_not_asked_to(cluster: FakeCluster, spec: Path) -> None:
    cluster.unserved.add("cronworkflows")
    done = call("schedule", spec)
    assert done.exit_code == 3
    assert "serves no kind CronWorkflow (argoproj.io/v1alpha1)" in done.stderr


def test_a_spec_without_a_schedule_is_refused(cluster: FakeCluster, tmp_path: Path) -> None:
    done = call("schedule", write_spec(tmp_path))
    assert (done.exit_code, done.stderr) == (
        2,
        "small-drill: has no schedule; write `schedule: {cron: 0 3 * * *}` into the spec, or run it once: "
        "chaosgate run SPEC --on argo\n",
    )


def test_a_schedule_that_cron_cannot_keep_is_placed_in_its_file(spec: Path) -> None:
    spec.write_text(spec.read_text().replace("0 3", "61 3"))
    done = call("validate", spec)
    assert done.exit_code == 2
    assert done.stderr.endswith(" spec.schedule.cron: read '61 3 * * *': the minute is '61'; write 0 to 59\n")


def test_compile_prints_what_runs_it_again_and_again_or_once(spec: Path, tmp_path: Path) -> None:
    kinds = [yaml.safe_load(call("compile", spec, "--to", "argo", *more).stdout)["kind"] for more in ((), ("--once",))]
    assert kinds == ["CronWorkflow", "Workflow"]
    assert yaml.safe_load(call("compile", write_spec(tmp_path), "--to", "argo").stdout)["kind"] == "Workflow"
