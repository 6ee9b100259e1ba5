"""A workflow as it is read: steps, phases, exit codes, what was told."""

from __future__ import annotations

from pathlib import Path

import pytest
from argo_run import RUN, STARTED, STEPS, ArgoRun

from chaosgate.artifacts import SEAL, VERDICT
from chaosgate.components.aborting import Abort
from chaosgate.errors import ClusterError
from chaosgate.model.plan import CLEANUP, CONCLUDE
from chaosgate.submit.argo.told import read_told
from chaosgate.submit.argo.workflow import ABORT, Workflow


@pytest.fixture
def argo(tmp_path: Path) -> ArgoRun:
    return ArgoRun(tmp_path)


def test_the_steps_are_those_of_the_plan_with_cleanup_last(argo: ArgoRun) -> None:
    assert tuple(step.id for step in argo.workflow.steps) == STEPS
    assert [step.component for step in argo.workflow.steps][1:4] == ["measure", "measure", "inject"]


def test_a_submitted_workflow_is_called_as_its_run_and_waits(argo: ArgoRun) -> None:
    workflow = argo.workflow
    assert (workflow.run, workflow.spec_name) == (RUN, "small-drill")
    assert "generateName" not in argo.data["metadata"]
    assert not workflow.is_seen
    assert not workflow.is_over
    assert {workflow.node(step).phase for step in workflow.steps} == {"waiting"}


@pytest.mark.parametrize(
    ("phase", "seen", "failed"),
    [
        ("Pending", "starting", False),
        ("Running", "running", False),
        ("Succeeded", "ended", False),
        ("Failed", "ended", True),
        ("Error", "ended", True),
        ("Skipped", "omitted", False),
        ("Omitted", "omitted", False),
        ("Unheard-of", "waiting", False),
    ],
)
def test_each_phase_of_argo_s_has_its_meaning(argo: ArgoRun, phase: str, seen: str, failed: bool) -> None:
    node = argo.step("deploy", phase).workflow.node(argo.workflow.steps[0])
    assert (node.phase, node.failed) == (seen, failed)


@pytest.mark.parametrize(
    ("phase", "code", "read"),
    [
        *(("Succeeded", 0, 0), ("Succeeded", None, 0), ("Running", None, None), ("Running", 0, None)),
        *(("Failed", 3, 3), ("Failed", None, 1), ("Failed", 0, 1), ("Error", None, 1)),
    ],
)
def test_a_step_that_ended_badly_never_counts_as_zero(
    argo: ArgoRun, phase: str, code: int | None, read: int | None
) -> None:
    assert argo.step("deploy", phase, code=code).workflow.node(argo.workflow.steps[0]).exit_code == read


def test_the_exit_handler_is_the_last_step_and_times_are_seconds(argo: ArgoRun) -> None:
    argo.step(CLEANUP, "Succeeded", code=0)
    node = argo.workflow.node(argo.workflow.steps[-1])
    assert node.started is not None
    assert node.ended is not None
    assert node.ended - node.started == 7
    assert argo.workflow.created == node.started


def test_documents_are_read_as_files_are(argo: ArgoRun) -> None:
    argo.finished("fail")
    verdict = read_told(argo.workflow, CONCLUDE, VERDICT)
    assert verdict is not None
    assert verdict.verdict == "fail"
    seal = read_told(argo.workflow, CLEANUP, SEAL)
    assert seal is not None
    assert seal.clean


@pytest.mark.parametrize(
    "harm", [lambda text: text[:-40], lambda text: text.replace('"fail"', '"pass"'), lambda _: "x"]
)
def test_a_document_that_was_cut_or_altered_counts_as_missing(argo: ArgoRun, harm: object) -> None:
    argo.finished("fail")
    (told,) = [
        one
        for one in argo.data["status"]["nodes"][f"{RUN}.conclude"]["outputs"]["parameters"]
        if one["name"] == "verdict"
    ]
    told["value"] = harm(told["value"])  # type: ignore[operator]
    assert read_told(argo.workflow, CONCLUDE, VERDICT) is None


def test_a_document_of_another_run_counts_as_missing(argo: ArgoRun) -> None:
    argo.finished("fail")
    other = Workflow({**argo.data, "metadata": {**argo.data["metadata"], "name": "other"}})
    other.data["status"]["nodes"] = {
        name.replace(RUN, "other"): {**node, "name": node["name"].replace(RUN, "other")}
        for name, node in argo.data["status"]["nodes"].items()
    }
    assert read_told(Workflow(other.data), CONCLUDE, VERDICT) is None


def test_an_abort_stands_on_the_workflow_even_when_it_cannot_be_read(argo: ArgoRun) -> None:
    assert argo.workflow.abort is None
    asked = Abort(by="ann@laptop", reason="the pager", at=STARTED)
    argo.data["metadata"]["annotations"] = {ABORT: asked.model_dump_json()}
    assert argo.workflow.abort == asked
    argo.data["metadata"]["annotations"] = {ABORT: "{"}
    assert argo.workflow.abort is not None
    assert argo.workflow.abort.sentence() == "aborted by somebody: the annotation chaosgate/abort cannot be read"


def test_a_stranger_s_workflow_has_no_spec() -> None:
    with pytest.raises(ClusterError, match="workflow w carries no spec: `chaosgate run --on argo` did not make it"):
        _ = Workflow({"metadata": {"name": "w"}}).spec_text
    assert Workflow({"metadata": {"name": "w"}}).steps == ()
