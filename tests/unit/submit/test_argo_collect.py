"""Bringing a run here: what MLflow holds, what the workflow tells, and a seal where no cleanup has left one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from argo_run import RUN, ArgoRun, Script

from chaosgate.artifacts import RECORDING, SEAL, STATUS, VERDICT, read_document
from chaosgate.errors import TrackingError
from chaosgate.model.plan import CLEANUP
from chaosgate.model.result import Recording
from chaosgate.model.spec import ChaosSpec
from chaosgate.submit.argo import collect as module
from chaosgate.submit.argo.collect import collect, seal_from_here

Fetch = Callable[[Path], None]


@pytest.fixture
def argo(tmp_path: Path) -> ArgoRun:
    return ArgoRun(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / RUN
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fetch], None]:
    """MLflow, which puts into a folder what a test says."""

    def holds(put: Fetch) -> None:
        def fetch(run: str, spec: ChaosSpec, state: Path | None, folder: Path) -> None:
            assert (run, state) == (RUN, None)
            put(folder)

        monkeypatch.setattr(module, "fetch_run", fetch)

    return holds


def unreachable(folder: Path) -> None:
    raise TrackingError("MLflow at http://mlflow:5000 cannot be reached")


def files(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def test_what_the_workflow_tells_lies_where_a_local_run_has_it(
    argo: ArgoRun, folder: Path, mlflow: Callable[[Fetch], None]
) -> None:
    mlflow(unreachable)
    argo.finished("fail")
    missing = collect(RUN, argo.spec, argo.workflow, folder)
    assert missing == "MLflow at http://mlflow:5000 cannot be reached"
    steps = ("baseline-measure", "block1-inject", "block1-measure", "deploy")
    assert files(folder) == sorted(
        ["cleanup/cleanup.json", "conclude/record.json", "conclude/verdict.json"]
        + [f"{step}/status.json" for step in steps]
    )
    assert read_document(folder / "conclude" / VERDICT.file, VERDICT, argo.identity).verdict == "fail"
    assert read_document(folder / "deploy" / STATUS.file, STATUS, argo.identity).status == "ok"


def test_what_mlflow_holds_comes_too_but_the_workflow_counts(
    argo: ArgoRun, folder: Path, mlflow: Callable[[Fetch], None]
) -> None:
    def put(place: Path) -> None:
        (place / "conclude").mkdir()
        (place / "conclude" / "verdict.json").write_text("older")
        (place / "conclude" / "report.html").write_text("<html>")
        (place / "spec.json").write_text("{}")

    mlflow(put)
    argo.finished("fail")
    assert collect(RUN, argo.spec, argo.workflow, folder) is None
    assert read_document(folder / "conclude" / VERDICT.file, VERDICT).verdict == "fail"
    assert (folder / "conclude" / "report.html").read_text() == "<html>"


def test_only_what_a_run_has_is_taken_from_a_server(
    argo: ArgoRun, folder: Path, mlflow: Callable[[Fetch], None]
) -> None:
    def put(place: Path) -> None:
        (place / "deploy" / "deeper").mkdir(parents=True)
        (place / "deploy" / "endpoint.json").write_text("{}")
        (place / "deploy" / "deeper" / "record.json").write_text("{}")
        (place / "cluster.json").write_text("{}")
        (place / "deploy" / "record.json").symlink_to("/etc/passwd")

    mlflow(put)
    assert collect(RUN, argo.spec, None, folder) is None
    assert files(folder) == ["deploy/endpoint.json"]


def test_why_conclude_could_not_record_counts_more_than_that_nothing_is_found(
    argo: ArgoRun, folder: Path, mlflow: Callable[[Fetch], None]
) -> None:
    mlflow(unreachable)
    argo.told("conclude", RECORDING, Recording(mlflow_run=None, reason="no MLflow server is named"))
    assert collect(RUN, argo.spec, argo.workflow, folder) == "no MLflow server is named"


def test_a_document_that_was_cut_is_left_out(argo: ArgoRun, folder: Path, mlflow: Callable[[Fetch], None]) -> None:
    mlflow(unreachable)
    argo.step("conclude", "Succeeded", code=0, verdict='{"schema": "chaosgate/verdict/v1"', unheard_of="{}")
    collect(RUN, argo.spec, argo.workflow, folder)
    assert files(folder) == []


def test_a_run_of_which_nothing_is_left_is_sealed_from_here(argo: ArgoRun, folder: Path) -> None:
    seal = seal_from_here(argo.cluster, RUN, argo.spec, folder, Script())
    assert seal.clean
    assert read_document(folder / CLEANUP / SEAL.file, SEAL, argo.identity) == seal


def test_the_sweeper_is_waited_for_and_what_it_leaves_is_named(argo: ArgoRun, folder: Path) -> None:
    argo.marked()
    marker = f"/api/v1/namespaces/chaos/configmaps/{RUN}-run"
    labels = {"chaosgate/run": RUN, "chaosgate/role": "gateway"}
    argo.cluster.put({"kind": "Service", "metadata": {"name": f"{RUN}-gateway", "labels": labels}})
    seal = seal_from_here(argo.cluster, RUN, argo.spec, folder, Script(*[lambda: None] * 90))
    assert seal.left == (f"Service {RUN}-gateway", "the run's marker, which stands until all is cleaned up")
    assert not seal.clean

    def swept() -> None:
        del argo.cluster.objects[marker], argo.cluster.objects[f"/api/v1/namespaces/chaos/services/{RUN}-gateway"]

    assert seal_from_here(argo.cluster, RUN, argo.spec, folder, Script(swept)).clean


def test_two_signals_end_the_wait_for_the_sweeper(argo: ArgoRun, folder: Path) -> None:
    argo.marked()
    script = Script()
    script.acts = [script.interrupt, script.interrupt]
    assert not seal_from_here(argo.cluster, RUN, argo.spec, folder, script).clean
