"""`status` and `logs` of a run on Argo: what is shown of the workflow and its pods, and what where they are gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from argo_run import RUN, ArgoRun, ready_cluster, stamped
from click.testing import CliRunner, Result

from chaosgate.cli import argo_status, there
from chaosgate.cli.main import chaosgate
from chaosgate.errors import ClusterError

LOAD = '{"event": "load", "elapsed": 4.0, "requests": 412, "ttft_p99": 0.0123, "error_rate": 0.01}'
WINDOW = (
    '{"event": "window", "fault": "slow-wire", "dose": 0.1, "dimension": "duration", "window": 2, "of": 9, "on": 1.5}'
)


class Lab:
    """A run in a fake cluster, and the commands on it; `state` has no folder of it."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.cluster = ready_cluster()
        self.argo = ArgoRun(folder, self.cluster)

    def call(self, *words: object) -> Result:
        return CliRunner().invoke(chaosgate, [*(str(word) for word in words), "--state", str(self.state)])

    def said(self, *words: object) -> list[str]:
        done = self.call(*words, "--on", "argo")
        assert done.exit_code == 0, done.output
        return [line.rstrip() for line in done.stdout.splitlines()]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    lab = Lab(tmp_path)

    def opened(namespace: str | None = None, context: str | None = None) -> Any:
        return lab.cluster

    monkeypatch.setattr(there, "open_cluster", opened)
    monkeypatch.setattr("chaosgate.cluster.api.open_cluster", opened)
    begun = lab.argo.workflow.created
    monkeypatch.setattr(argo_status.time, "time", lambda: begun + 65)
    return lab


def running(lab: Lab) -> ArgoRun:
    """The run in the third window of its sweep."""
    lab.argo.status("deploy").status("baseline-measure")
    lab.argo.step("block1-measure", "Running").pod("block1-measure", f"words\n{LOAD}")
    lab.argo.step("block1-inject", "Pending").pod("block1-inject", WINDOW)
    return lab.argo.phase("Running").pod("gw", "listening", role="gateway")


def test_a_running_run_shows_steps_window_numbers_pods_and_what_comes_next(lab: Lab) -> None:
    running(lab)
    lines = lab.said("status", RUN)
    assert lines[:2] == [f"run        {RUN}", "spec       small-drill"]
    assert "verdict    not yet" in lines
    assert "cluster    namespace chaos of https://fake.invalid:6443" in lines
    assert "pods       block1-inject (Running), block1-measure (Running), gateway (Running)" in lines
    assert "block1-measure    running  1m 5s  412 requests  TTFT p99 12.3ms  errors 1 %" in lines
    assert "block1-inject     running         slow-wire 100ms (window 3 of 9)" in lines
    assert "conclude          waiting" in lines
    reach = "--on argo --namespace chaos"
    assert lines[-3:] == [
        f"next       chaosgate attach {RUN} {reach}",
        f"next       chaosgate logs {RUN} {reach} --follow",
        f"next       chaosgate abort {RUN} {reach} --reason TEXT",
    ]


def test_the_same_for_machines(lab: Lab) -> None:
    running(lab)
    data = json.loads(lab.call("status", RUN, "--on", "argo", "-o", "json").stdout)
    assert data["line"]["state"] == "running"
    assert data["cluster"] == "namespace chaos of https://fake.invalid:6443"
    assert data["steps"][2]["load"]["requests"] == 412


def test_a_pod_that_does_not_start_says_why(lab: Lab) -> None:
    lab.argo.step("deploy", "Pending").pod("deploy", waiting="ErrImagePull").phase("Running")
    (deploy,) = (line for line in lab.said("status", RUN) if line.startswith("deploy"))
    assert deploy == "deploy            waiting        ErrImagePull: no such thing"


def test_a_step_that_declined_or_crashed_says_why(lab: Lab) -> None:
    lab.argo.status("block1-inject", "declined", "the steady state does not hold")
    lab.argo.step("block1-measure", "Failed", message="OOMKilled (exit code 137)", code=137).phase("Failed")
    lines = lab.said("status", RUN)
    assert "block1-inject     declined  7.0s  the steady state does not hold" in lines
    assert "block1-measure    ended     7.0s  OOMKilled (exit code 137)" in lines
    assert "conclude          skipped" in lines


@pytest.mark.parametrize(
    ("how", "state", "code"),
    [
        (lambda lab: lab.argo.finished("fail"), "finished", 1),
        (lambda lab: lab.argo.concluded("pass").sealed("Pod x").phase("Failed"), "unsealed", 4),
        (lambda lab: lab.argo.marked().phase("Failed"), "unsealed", 4),
        (lambda lab: lab.argo.phase("Failed"), "interrupted", 4),
        (lambda lab: lab.argo.step("deploy", "Failed", code=1).sealed().phase("Failed"), "interrupted", 3),
    ],
)
def test_how_a_run_that_is_over_ended(lab: Lab, how: Any, state: str, code: int) -> None:
    how(lab)
    data = json.loads(lab.call("status", RUN, "--on", "argo", "-o", "json").stdout)
    assert (data["line"]["state"], data["line"]["exitCode"]) == (state, code)


def test_an_unsealed_run_is_to_be_cleaned_up(lab: Lab) -> None:
    lab.argo.marked().phase("Failed")
    assert lab.said("status", RUN)[-1] == f"next       chaosgate cleanup {RUN} --on argo --namespace chaos"


def test_the_list_is_that_of_the_namespace(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.argo.finished("warn")
    begun = lab.argo.workflow.created
    monkeypatch.setattr("chaosgate.cli.status_text.time.time", lambda: begun + 7205)
    header, line = lab.said("status")
    assert header.split()[0] == "run"
    assert line.split() == [RUN, "small-drill", "finished", "warn", "2h", "0m", "0"]


def test_an_unknown_run_is_answered_with_those_that_are_there(lab: Lab) -> None:
    done = lab.call("status", "other", "--on", "argo")
    assert done.exit_code == 3
    assert f"has no run other; its runs: {RUN};" in done.stderr


def test_what_is_known_here_is_shown_where_the_cluster_is_silent(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    there.There(lab.cluster, RUN, lab.state).open(lab.argo.spec)

    def silent(*_: Any, **__: Any) -> Any:
        raise ClusterError("the Kubernetes API does not answer")

    monkeypatch.setattr(lab.cluster, "_text", silent)
    lines = [line.rstrip() for line in lab.call("status", RUN).stdout.splitlines()]
    assert any(line.startswith("state      elsewhere, started ") for line in lines)
    assert "problem    the Kubernetes API does not answer" in lines
    assert lines[-1] == f"next       chaosgate attach {RUN}"


def test_a_workflow_that_is_gone_is_said(lab: Lab) -> None:
    there.There(lab.cluster, RUN, lab.state).open(lab.argo.spec)
    lab.cluster.delete("Workflow", RUN)
    assert (
        "problem    the cluster does not know the workflow (any more): https://fake.invalid:6443"
        in lab.call("status", RUN).stdout.splitlines()
    )


# logs


def test_logs_are_those_of_the_pods_without_what_programs_are_told(lab: Lab) -> None:
    running(lab)
    assert lab.said("logs", RUN) == ["block1-measure   | words", "gateway          | listening"]
    assert lab.said("logs", RUN, "gateway") == ["listening"]
    assert lab.said("logs", RUN, "conclude") == []
    done = lab.call("logs", RUN, "gatway", "--on", "argo")
    assert (done.exit_code, done.stderr) == (
        2,
        f"{RUN}: unknown step or server 'gatway'; did you mean 'gateway'?\n",
    )


def test_following_shows_what_comes_until_the_workflow_is_over(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    running(lab)

    def later(seconds: float) -> None:
        assert seconds == argo_status.PodLogs.poll
        lab.cluster.printed[f"{RUN}-gw"] += stamped("halted", second=1)
        lab.argo.pod("conclude", "late").phase("Succeeded")

    monkeypatch.setattr("chaosgate.cli.log_lines.time.sleep", later)
    assert lab.said("logs", RUN, "--follow") == [
        "block1-measure   | words",
        "gateway          | listening",
        "gateway          | halted",
        "conclude         | late",
    ]
