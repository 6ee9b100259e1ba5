"""Following a workflow: what is told of its steps, and what is done about an API server or a pod that does not come."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from argo_run import RUN, ArgoRun, Clock, Script, stamped

from chaosgate.errors import ClusterError
from chaosgate.model.plan import Step
from chaosgate.submit.argo.follow import PATIENCE, UNTAKEN, Follower
from chaosgate.submit.argo.hurdles import GIVE_UP, STARTING

LOAD = '{"event": "load", "requests": 3}'


class Told:
    """Keeps everything that a follower tells, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def started(self, step: Step) -> None:
        self.lines.append(f"{step.id} started")

    def progress(self, step: Step, told: Mapping[str, Any]) -> None:
        self.lines.append(f"{step.id} {told['event']} {told.get('text', '')}".strip())

    def ended(self, step: Step, exit_code: int) -> None:
        self.lines.append(f"{step.id} ended {exit_code}")

    def say(self, text: str) -> None:
        self.lines.append(f"say: {text}")

    def log(self, role: str, line: str) -> None:
        self.lines.append(f"{role} | {line}")


class Following:
    """A follower with all that it tells; `acts` are what happens between its looks."""

    def __init__(self, argo: ArgoRun, *acts: Any, known: bool = False) -> None:
        self.argo, self.told, self.clock = argo, Told(), Clock()
        self.script = Script(*acts)
        self.follower = Follower(
            argo.cluster,
            argo.run,
            self.told,
            self.told.say,
            self.told.log,
            self.script,
            known=argo.workflow if known else None,
            clock=self.clock,
        )

    def follow(self) -> bool:
        return self.follower.follow()

    def later(self, seconds: float) -> Any:
        """An act: time passes."""
        return lambda: self.clock.pass_(seconds)

    def acts(self, *acts: Any) -> Following:
        self.script.acts = list(acts)
        return self

    @property
    def lines(self) -> list[str]:
        return self.told.lines


@pytest.fixture
def argo(tmp_path: Path) -> ArgoRun:
    return ArgoRun(tmp_path)


def end(argo: ArgoRun) -> Any:
    """An act: the run comes to its end."""
    return lambda: argo.finished("pass")


def test_steps_are_told_of_in_the_order_of_the_plan_until_the_workflow_is_over(argo: ArgoRun) -> None:
    following = Following(argo, lambda: argo.step("deploy", "Running"), end(argo))
    assert following.follow()
    assert following.lines[:3] == ["deploy started", "deploy ended 0", "baseline-measure started"]
    assert following.lines[-4:] == ["gate started", "gate ended 0", "cleanup started", "cleanup ended 0"]
    assert list(following.follower.problems()) == []


def test_what_a_pod_prints_is_progress_or_log_and_given_once(argo: ArgoRun) -> None:
    def more() -> None:
        argo.cluster.printed[f"{RUN}-deploy"] += stamped("a last word", second=2)
        argo.finished("pass")

    argo.step("deploy", "Running").pod("deploy", f"hello\n{LOAD}")
    following = Following(argo, lambda: None, more)
    assert following.follow()
    assert following.lines[:3] == ["deploy started", "step-deploy | hello", "deploy load"]
    assert following.lines[3:5] == ["step-deploy | a last word", "deploy ended 0"]


def test_a_pod_that_runs_has_started_even_when_argo_has_not_seen_it(argo: ArgoRun) -> None:
    argo.step("deploy", "Pending").pod("deploy", LOAD)
    following = Following(argo, end(argo))
    assert following.follow()
    assert following.lines[:2] == ["deploy started", "deploy load"]


def test_the_logs_of_servers_are_kept_under_their_roles(argo: ArgoRun) -> None:
    argo.pod("gw", "listening\n" + LOAD, role="gateway")
    following = Following(argo, end(argo))
    assert following.follow()
    assert following.lines[:2] == ["gateway | listening", f"gateway | {LOAD}"]


def test_nothing_is_told_of_steps_that_had_ended_before(argo: ArgoRun) -> None:
    argo.status("deploy")
    following = Following(argo, end(argo), known=True)
    assert following.follow()
    assert following.lines[0] == "baseline-measure started"


def test_a_lost_api_server_is_said_once_and_waited_for(argo: ArgoRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose() -> None:
        monkeypatch.setattr(argo.cluster, "_text", lost)

    def lost(*_: Any, **__: Any) -> Any:
        raise ClusterError("https://fake: the Kubernetes API does not answer: refused")

    def back() -> None:
        monkeypatch.undo()
        argo.finished("pass")

    following = Following(argo)
    following.acts(lose, following.later(PATIENCE / 2), back)
    assert following.follow()
    assert following.lines[0] == (
        "say: https://fake: the Kubernetes API does not answer: refused; the run goes on by itself, "
        "trying again for 600 s"
    )
    assert [line for line in following.lines if line.startswith("say")][1:] == ["say: the API server answers again"]


def test_patience_with_an_api_server_ends(argo: ArgoRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: Any, **__: Any) -> Any:
        raise ClusterError("gone")

    monkeypatch.setattr(argo.cluster, "_text", lost)
    following = Following(argo)
    following.acts(following.later(PATIENCE + 1))
    with pytest.raises(ClusterError, match="gone"):
        following.follow()


def test_a_workflow_that_somebody_deletes_is_over(argo: ArgoRun) -> None:
    following = Following(argo, lambda: argo.cluster.delete("Workflow", RUN))
    assert following.follow()
    assert following.follower.is_deleted
    assert list(following.follower.problems()) == ["somebody deleted the workflow before it was over"]


def test_one_signal_stops_the_workflow_and_its_cleanup_is_waited_for(argo: ArgoRun) -> None:
    argo.step("deploy", "Running")
    following = Following(argo)
    following.acts(following.script.interrupt, lambda: None, lambda: argo.sealed().phase("Failed"))
    assert following.follow()
    assert argo.data["spec"]["shutdown"] == "Stop"
    said = [line for line in following.lines if line.startswith("say")]
    assert said == [
        "say: asked the cluster to stop the run; waiting for its cleanup, interrupt again to leave it alone"
    ]
    assert following.script.signal == signal.SIGINT


def test_a_second_signal_leaves_the_run_to_the_cluster(argo: ArgoRun) -> None:
    following = Following(argo)
    following.acts(following.script.interrupt, following.script.interrupt)
    assert not following.follow()


def test_a_crash_is_told_with_its_last_words(argo: ArgoRun) -> None:
    argo.step("deploy", "Running").pod("deploy", "one\ntwo\nthree\nKeyError: 4")
    following = Following(
        argo, lambda: argo.step("deploy", "Failed", code=1, message="Error (exit code 1)").phase("Failed")
    )
    assert following.follow()
    assert following.lines[-2:] == ["deploy note Error (exit code 1)", "deploy ended 1"]
    assert list(following.follower.problems()) == [
        "deploy crashed: Error (exit code 1); its last lines: two | three | KeyError: 4"
    ]


def test_a_crash_whose_log_is_gone_says_so(argo: ArgoRun) -> None:
    argo.step("deploy", "Error").phase("Error")
    following = Following(argo)
    assert following.follow()
    assert list(following.follower.problems()) == ["deploy crashed: Argo gives no reason; its log is gone"]


def test_a_gate_that_says_no_and_an_unclean_cleanup_are_no_crashes(argo: ArgoRun) -> None:
    argo.concluded("fail").sealed("Pod x").phase("Failed")
    following = Following(argo)
    assert following.follow()
    assert list(following.follower.problems()) == []
    assert "gate note" not in " ".join(following.lines)


def test_a_workflow_that_argo_refuses_says_why(argo: ArgoRun) -> None:
    argo.phase("Error").data["status"]["message"] = "invalid spec: templates.plan"
    following = Following(argo)
    assert following.follow()
    assert list(following.follower.problems()) == ["Argo did not start the workflow: invalid spec: templates.plan"]


def test_a_controller_that_does_not_come_is_worth_a_word(argo: ArgoRun) -> None:
    following = Following(argo)
    following.acts(following.later(UNTAKEN + 1), lambda: None, end(argo))
    assert following.follow()
    said = [line for line in following.lines if line.startswith("say")]
    assert said == [
        "say: Argo's workflow controller has not taken the workflow up; is it running, and for this namespace? "
        "kubectl get deployments -A | grep workflow-controller"
    ]


def test_who_may_not_see_pods_follows_without_numbers(argo: ArgoRun) -> None:
    argo.cluster.forbidden.add(("list", "pods"))
    following = Following(argo, lambda: None, end(argo))
    assert following.follow()
    said = [line for line in following.lines if line.startswith("say")]
    assert len(said) == 1
    assert said[0].startswith("say: no live numbers: GET /api/v1/namespaces/chaos/pods: refused with 403")


def test_a_pod_that_is_only_slow_is_said_why_and_waited_for(argo: ArgoRun) -> None:
    unschedulable = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}
    argo.step("deploy", "Pending").pod("deploy", waiting="PodInitializing", conditions=[unschedulable])
    following = Following(argo)
    following.acts(following.later(STARTING), following.later(GIVE_UP * 5), end(argo))
    assert following.follow()
    said = [line for line in following.lines if line.startswith("say")]
    assert said == ["say: deploy does not start: Unschedulable: 0/1 nodes"]
    assert list(following.follower.problems()) == []
    assert "shutdown" not in argo.data["spec"]


def test_a_pod_that_no_waiting_mends_ends_the_run(argo: ArgoRun) -> None:
    argo.step("deploy", "Pending").pod("deploy", waiting="ErrImageNeverPull")
    following = Following(argo)

    def cleaning() -> None:
        assert argo.data["spec"]["shutdown"] == "Stop"
        argo.step("deploy", "Failed", message="Stopped with strategy 'Stop'")
        argo.step("cleanup", "Pending").pod("cleanup", waiting="ErrImageNeverPull")

    following.acts(
        following.later(STARTING),
        following.later(GIVE_UP),
        cleaning,
        following.later(STARTING),
        following.later(GIVE_UP),
        lambda: argo.phase("Failed"),
    )
    assert following.follow()
    assert argo.data["spec"]["shutdown"] == "Terminate"
    why = "ErrImageNeverPull: no such thing"
    assert list(following.follower.problems()) == [
        f"the pod of deploy cannot start: {why}",
        f"the pod of cleanup cannot start: {why}",
    ]
    said = [line for line in following.lines if line.startswith("say")]
    assert said[:2] == [
        f"say: deploy does not start: {why}",
        "say: deploy cannot start as things are; ending the run",
    ]
