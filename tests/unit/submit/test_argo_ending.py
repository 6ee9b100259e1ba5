"""Ending a run before its time, and cleaning up after one from here."""

from __future__ import annotations

from pathlib import Path

import pytest
from argo_run import RUN, ArgoRun, Script

from chaosgate.components import on_cluster
from chaosgate.submit.argo.ending import clean_from_here, stop_and_wait


@pytest.fixture
def argo(tmp_path: Path) -> ArgoRun:
    return ArgoRun(tmp_path)


@pytest.fixture(autouse=True)
def _no_mlflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_cluster, "record_seal", lambda run, spec, *, clean: (None, []))


def drop(role: str, line: str) -> None: ...


def test_a_run_is_stopped_and_what_ends_from_then_on_is_said(argo: ArgoRun) -> None:
    argo.status("deploy").step("baseline-measure", "Running")
    said: list[str] = []

    def ends() -> None:
        argo.step("baseline-measure", "Failed", message="Stopped").sealed().phase("Failed")

    over = stop_and_wait(argo.cluster, argo.workflow, said.append, drop, Script(ends))
    assert over is not None
    assert over.is_over
    assert argo.data["spec"]["shutdown"] == "Stop"
    assert said == [
        "asked the cluster to stop the run; waiting for its cleanup",
        "baseline-measure ended",
        "cleanup ended",
    ]


def test_a_run_that_is_over_is_left_alone(argo: ArgoRun) -> None:
    argo.finished()
    argo.cluster.calls.clear()
    assert stop_and_wait(argo.cluster, argo.workflow, print, drop, Script()) is not None
    assert argo.cluster.calls == []


def test_a_run_that_is_being_stopped_is_not_asked_again(argo: ArgoRun) -> None:
    argo.data["spec"]["shutdown"] = "Terminate"
    said: list[str] = []
    stop_and_wait(argo.cluster, argo.workflow, said.append, drop, Script(lambda: argo.phase("Failed")))
    assert argo.data["spec"]["shutdown"] == "Terminate"
    assert said == []


def test_what_a_run_without_a_workflow_left_goes_from_here(argo: ArgoRun) -> None:
    argo.marked().cluster.delete("Workflow", RUN)
    labels = {"chaosgate/run": RUN, "chaosgate/role": "gateway"}
    argo.cluster.put({"kind": "Deployment", "metadata": {"name": f"{RUN}-gateway", "labels": labels}})
    seal = clean_from_here(argo.cluster, None, RUN, print, drop, Script())
    assert seal.clean
    assert f"removed Deployment {RUN}-gateway" in seal.actions
    assert "/api/v1/namespaces/chaos/configmaps/small-drill-1-run" not in argo.cluster.objects


def test_a_run_that_goes_on_is_ended_before_it_is_cleaned_up(argo: ArgoRun) -> None:
    argo.marked().step("deploy", "Running")

    def ends() -> None:
        assert argo.data["spec"]["shutdown"] == "Stop"
        argo.phase("Failed")

    assert clean_from_here(argo.cluster, argo.workflow, RUN, print, drop, Script(ends)).clean
