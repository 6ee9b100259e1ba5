"""`run --on argo`, `attach`, `abort` and `cleanup` of such a run: what they say, leave behind and exit with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from argo_run import RUN, ArgoRun, Script, ready_cluster
from click.testing import CliRunner, Result

from chaosgate.artifacts import SEAL, VERDICT, Identity, read_document, write_document
from chaosgate.cli import argo_commands, argo_end, argo_run, there
from chaosgate.cli.main import chaosgate
from chaosgate.components import on_cluster
from chaosgate.components.aborting import read_abort
from chaosgate.components.places import run_dir
from chaosgate.errors import ClusterError, TrackingError
from chaosgate.model.result import Reason, Verdict
from chaosgate.submit.argo import collect

SUBMITTED = "namespace chaos of https://fake.invalid:6443"


class Lab:
    """A fake cluster behind the command line; `acts` are what happens between two looks of a command that waits."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.cluster = ready_cluster()
        self.argo = ArgoRun(folder, self.cluster, made=False)
        self.script = Script()

    @property
    def folder(self) -> Path:
        return run_dir(self.state, RUN)

    def call(self, *words: object, acts: tuple[Callable[[], object], ...] = ()) -> Result:
        self.script.acts = list(acts)
        return CliRunner().invoke(chaosgate, [*(str(word) for word in words), "--state", str(self.state)])

    def run(self, *words: object, acts: tuple[Callable[[], object], ...] = ()) -> Result:
        return self.call("run", self.argo.file, "--on", "argo", *words, acts=acts)

    def detached(self) -> Lab:
        assert self.run("--detach").exit_code == 0
        return self


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    lab = Lab(tmp_path)
    for place in (there, argo_commands):
        monkeypatch.setattr(place, "open_cluster", lambda namespace=None, context=None: lab.cluster)
    for place in (argo_run, argo_end):
        monkeypatch.setattr(place, "Interrupts", lambda: lab.script)
    monkeypatch.setattr(argo_commands, "new_run_id", lambda spec: RUN)
    monkeypatch.setattr(collect, "fetch_run", unreachable)
    monkeypatch.setattr(argo_end, "seal_run", unreachable)
    monkeypatch.setattr(on_cluster, "record_seal", lambda run, spec, *, clean: (None, []))
    return lab


def unreachable(*_: Any) -> None:
    raise TrackingError("MLflow cannot be reached")


# run


def test_a_run_is_followed_to_its_verdict_and_its_files_lie_here(lab: Lab) -> None:
    done = lab.run(acts=(lambda: lab.argo.finished("fail"),))
    assert done.exit_code == 1, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"run {RUN}: ")
    assert any(line.endswith("gate ended with exit code 1") for line in lines)
    assert "verdict: fail" in lines
    assert "missing: not all files of the run are here: MLflow cannot be reached" in lines
    assert "cleanup: clean, nothing left behind" in lines
    assert read_document(lab.folder / "conclude" / VERDICT.file, VERDICT, lab.argo.identity).verdict == "fail"
    assert json.loads((lab.folder / "cluster.json").read_text()) == {
        "carrier": "argo",
        "server": "https://fake.invalid:6443",
        "context": "fake",
        "namespace": "chaos",
    }


def test_a_run_that_is_over_needs_no_cluster_any_more(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.run(acts=(lambda: lab.argo.pod("cleanup", "all is gone").finished("pass"),))
    monkeypatch.setattr(there, "open_cluster", unreachable)
    shown = lab.call("status", RUN).stdout
    assert "state      finished" in shown
    assert f"cluster    {SUBMITTED}" in shown
    assert "deploy            ok     7.0s" in shown
    assert lab.call("logs", RUN).stdout == "cleanup          | all is gone\n"
    assert lab.call("abort", RUN).exit_code == 0
    (line,) = json.loads(lab.call("status", "-o", "json").stdout)
    assert (line["state"], line["exitCode"]) == ("finished", 0)


def test_the_same_for_machines(lab: Lab) -> None:
    done = lab.run("-o", "json", acts=(lambda: lab.argo.finished("pass"),))
    data = json.loads(done.stdout)
    assert (data["run"], data["exitCode"], data["verdict"]["verdict"]) == (RUN, 0, "pass")
    assert data["missing"] == "MLflow cannot be reached"


def test_a_detached_run_is_submitted_and_it_is_said_what_comes_next(lab: Lab) -> None:
    done = lab.run("--detach")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"run {RUN}: submitted to {SUBMITTED}",
        f"next: chaosgate status {RUN}",
        f"next: chaosgate attach {RUN}",
        f"next: chaosgate abort {RUN}",
    ]
    assert done.stderr.startswith("note: the run will stand in no MLflow: no MLflow server is named;")
    assert lab.argo.workflow.run == RUN
    (line,) = json.loads(lab.call("status", "-o", "json").stdout)
    assert line["state"] == "elsewhere"


def test_what_the_cluster_lacks_is_said_and_nothing_is_left_here(lab: Lab) -> None:
    lab.cluster.delete("Secret", "chaosgate-gateway")
    done = lab.run()
    assert done.exit_code == 3
    assert "namespace chaos has no Secret chaosgate-gateway with the key 'key'" in done.stderr
    assert not lab.folder.exists()


def test_a_submission_that_is_refused_leaves_no_run(lab: Lab) -> None:
    lab.cluster.forbidden.add(("create", "workflows"))
    done = lab.run()
    assert done.exit_code == 3
    assert "workflows is forbidden" in done.stderr
    assert not lab.folder.exists()


def test_a_submission_whose_answer_was_lost_is_followed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    create = lab.cluster.create

    def lost(manifest: Any) -> Any:
        create(manifest)
        raise ClusterError("the Kubernetes API does not answer")

    monkeypatch.setattr(lab.cluster, "create", lost)
    assert lab.run("--detach").exit_code == 0
    assert lab.folder.exists()


@pytest.mark.parametrize("words", [("--namespace", "x"), ("--image", "x:1"), ("--service-account", "x"), ("--detach",)])
def test_what_says_how_a_cluster_runs_it_is_refused_for_this_machine(lab: Lab, words: tuple[str, ...]) -> None:
    done = lab.call("run", lab.argo.file, *words)
    assert done.exit_code == 2
    assert done.stderr == (f"{words[0]}: says how a cluster runs the spec; give --on argo with it, or leave it out\n")


def test_options_win_over_the_profile(lab: Lab) -> None:
    lab.cluster.put({"kind": "ServiceAccount", "metadata": {"name": "drills"}})
    lab.run("--detach", "--image", "registry/chaosgate:9", "--service-account", "drills")
    assert lab.argo.data["spec"]["serviceAccountName"] == "drills"
    images = {one["container"]["image"] for one in lab.argo.data["spec"]["templates"] if "container" in one}
    assert images == {"registry/chaosgate:9"}


# how a run may end


def ends(lab: Lab, *acts: Callable[[], object]) -> tuple[int, list[str]]:
    done = lab.run(acts=acts)
    return done.exit_code, done.stdout.splitlines()


def test_ctrl_c_is_130_once_all_is_clean(lab: Lab) -> None:
    code, lines = ends(lab, lab.script.interrupt, lambda: lab.argo.sealed().phase("Failed"))
    assert code == 130
    assert "verdict: error: interrupted by SIGINT before there was a verdict" in lines
    assert "cleanup: clean, nothing left behind" in lines


def test_ctrl_c_twice_leaves_the_run_alone_and_proves_nothing(lab: Lab) -> None:
    code, lines = ends(lab, lab.script.interrupt, lab.script.interrupt)
    assert code == 4
    assert any(
        line.endswith(f"left the run to the cluster; it goes on by itself: chaosgate attach {RUN}") for line in lines
    )
    assert f"cleanup: unproved; run: chaosgate cleanup {RUN}" in lines


def test_an_unclean_cleanup_is_4(lab: Lab) -> None:
    code, lines = ends(lab, lambda: lab.argo.concluded("pass").sealed("Pod x").phase("Failed"))
    assert code == 4
    assert f"cleanup: left behind: Pod x; run: chaosgate cleanup {RUN}" in lines


def test_a_crash_is_3_and_says_which_step_and_its_last_words(lab: Lab) -> None:
    def crash() -> None:
        lab.argo.pod("deploy", "KeyError: 4").step("deploy", "Failed", code=1, message="Error (exit code 1)")
        lab.argo.sealed().phase("Failed")

    code, lines = ends(lab, crash)
    assert code == 3
    assert "problem: deploy crashed: Error (exit code 1); its last lines: KeyError: 4" in lines
    assert (lab.folder / "logs" / "step-deploy.log").read_text() == "KeyError: 4\n"


def test_a_deleted_workflow_is_3_once_the_sweeper_is_done(lab: Lab) -> None:
    def deleted() -> None:
        lab.argo.marked()
        lab.cluster.delete("Workflow", RUN)

    def swept() -> None:
        lab.cluster.delete("ConfigMap", f"{RUN}-run")

    code, lines = ends(lab, deleted, swept)
    assert code == 3
    assert "problem: somebody deleted the workflow before it was over" in lines
    assert "cleanup: clean, nothing left behind" in lines


def test_a_cluster_that_is_lost_for_good_proves_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: Any, **__: Any) -> Any:
        raise ClusterError("the Kubernetes API does not answer")

    monkeypatch.setattr("chaosgate.submit.argo.follow.PATIENCE", -1.0)
    code, lines = ends(lab, lambda: monkeypatch.setattr(lab.cluster, "_text", lost), lambda: None)
    assert code == 4
    assert f"problem: the Kubernetes API does not answer; the run may go on by itself: chaosgate attach {RUN}" in lines


# attach


def test_attach_follows_a_detached_run(lab: Lab) -> None:
    done = lab.detached().call("attach", RUN, acts=(lambda: lab.argo.finished("fail"),))
    assert done.exit_code == 1
    assert "verdict: fail" in done.stdout


def test_a_run_that_was_never_seen_here_is_brought_here(lab: Lab, tmp_path: Path) -> None:
    lab.argo = ArgoRun(tmp_path, lab.cluster).finished("pass")
    assert lab.call("attach", RUN, "--on", "argo").exit_code == 0
    assert "state      finished" in lab.call("status", RUN).stdout


def test_a_run_of_nobody_knows_which_cluster_is_refused(lab: Lab) -> None:
    done = lab.call("attach", RUN)
    assert done.exit_code == 2
    assert f"{RUN}: no folder in {lab.state} says on which cluster it is; give --on argo --namespace NS" in done.stderr
    done = lab.call("attach", "../x", "--on", "argo")
    assert (done.exit_code, done.stderr) == (2, "../x: is no run; see which there are: chaosgate status --on argo\n")


def test_the_kubeconfig_must_lead_to_the_run_s_own_cluster(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.detached()
    monkeypatch.setattr(type(lab.cluster), "server", property(lambda self: "https://other:6443"))
    done = lab.call("status", RUN)
    assert done.exit_code == 3
    assert done.stderr == (
        "the run is on the cluster https://fake.invalid:6443 (context fake), the kubeconfig leads to "
        "https://other:6443; set KUBECONFIG, or: kubectl config use-context fake\n"
    )


# abort


@pytest.fixture
def concludes(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stands for conclude, which takes seconds: leaves its verdict and says what it was asked."""
    asked: list[str] = []

    def conclude(state: Path, folder: Path, run: str, say: Callable[[str], None]) -> None:
        noted = read_abort(folder)
        assert noted is not None
        asked.append(noted.reason)
        verdict = Verdict(verdict="error", reasons=(Reason(verdict="error", text=noted.sentence()),))
        write_document(folder / "conclude" / VERDICT.file, VERDICT, Identity(run, lab.argo.identity.spec), verdict)

    monkeypatch.setattr(argo_end, "conclude_aborted", conclude)
    return asked


def test_an_abort_stops_the_run_and_its_reason_is_the_verdict(lab: Lab, concludes: list[str]) -> None:
    done = lab.detached().call("abort", RUN, "--reason", "the pager", acts=(lambda: lab.argo.sealed().phase("Failed"),))
    assert done.exit_code == 0, done.output
    assert lab.argo.data["spec"]["shutdown"] == "Stop"
    assert lab.argo.workflow.abort is not None
    assert lab.argo.workflow.abort.reason == "the pager"
    assert concludes == ["the pager"]
    lines = done.stdout.splitlines()
    assert lines[0].endswith(": the pager")
    assert lines[1] == "asked the cluster to stop the run; waiting for its cleanup"
    assert "the seal is not in MLflow: MLflow cannot be reached" in lines
    assert lines[-1] == "cleanup: clean, nothing left behind"
    shown = lab.call("status", RUN).stdout
    assert "state      interrupted" in shown
    assert ": the pager (" in shown


def test_an_abort_whose_end_is_not_seen_proves_nothing(
    lab: Lab, concludes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: Any, **__: Any) -> Any:
        raise ClusterError("the Kubernetes API does not answer")

    monkeypatch.setattr("chaosgate.submit.argo.follow.PATIENCE", -1.0)
    acts = (lambda: monkeypatch.setattr(lab.cluster, "_text", lost), lambda: None)
    done = lab.detached().call("abort", RUN, acts=acts)
    assert done.exit_code == 4
    assert f"cleanup: not proved yet; look: chaosgate status {RUN}; then: chaosgate abort {RUN}" in done.stdout


def test_who_follows_an_aborted_run_ends_with_143(lab: Lab, concludes: list[str]) -> None:
    def abort() -> None:
        lab.argo.data["metadata"]["annotations"] = {
            "chaosgate/abort": json.dumps({"by": "ann@laptop", "reason": "the pager", "at": "now"})
        }
        lab.argo.sealed().phase("Failed")

    code, lines = ends(lab, abort)
    assert code == 143
    assert "verdict: error: aborted by ann@laptop: the pager; whoever aborted it has the verdict, and MLflow" in lines


def test_a_run_that_is_over_is_not_aborted(lab: Lab, concludes: list[str]) -> None:
    lab.detached()
    lab.argo.finished("pass")
    done = lab.call("abort", RUN)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"{RUN} was over before, there is nothing to abort",
        "verdict: pass",
        "cleanup: clean, nothing left behind",
    ]
    assert concludes == []


# cleanup


def test_cleanup_takes_away_what_a_run_left_and_seals_it(lab: Lab) -> None:
    lab.detached()
    lab.argo.marked().phase("Failed")
    labels = {"chaosgate/run": RUN, "chaosgate/role": "gateway"}
    lab.cluster.put({"kind": "Deployment", "metadata": {"name": f"{RUN}-gateway", "labels": labels}})
    done = lab.call("cleanup", RUN, "-o", "json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["clean"]
    assert f"cleanup: removed Deployment {RUN}-gateway" in done.stderr
    assert read_document(lab.folder / "cleanup" / SEAL.file, SEAL, lab.argo.identity).clean
    assert "state      interrupted" in lab.call("status", RUN).stdout


def test_cleanup_needs_neither_workflow_nor_folder(lab: Lab) -> None:
    done = lab.call("cleanup", RUN, "--on", "argo")
    assert done.exit_code == 0
    assert not lab.folder.exists()
