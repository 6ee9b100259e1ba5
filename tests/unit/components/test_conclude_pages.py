"""The pages conclude leaves: the summary says what the verdict says, also of a run that measured nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from finished_run import measured
from judged_run import RUN
from simulated_run import RUN_ID

from chaosgate.artifacts import RECORD, STATUS, Identity, write_document
from chaosgate.components import conclude
from chaosgate.components.definition import COMPONENTS, Context
from chaosgate.components.deploy import open_record
from chaosgate.model.result import Recording, StepStatus

IDENTITY = Identity(RUN_ID, RUN.spec.digest())
STEPS = ("deploy", "baseline-measure", "block1-measure", "block1-inject")
PARTS = ("observations", "ledger", "timeline", "gauges")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that only needs to be concluded; it is recorded nowhere."""
    monkeypatch.setattr(conclude, "record", lambda tracked, state: Recording(mlflow_run=None, reason="no MLflow"))
    folder = measured(tmp_path / "state" / "runs" / RUN_ID)
    write_document(folder / "deploy" / "record.json", RECORD, IDENTITY, open_record(RUN.spec, None))
    for step in STEPS:
        write_document(folder / step / "status.json", STATUS, IDENTITY, StepStatus(step=step, status="ok"))
    return folder


def context(folder: Path) -> Context:
    """What the carrier gives conclude."""
    measures = ("baseline-measure", "block1-measure")
    outputs = {port.name: folder / "conclude" / port.file for port in COMPONENTS["conclude"].outputs}
    gathered = {name: {step: folder / step / f"{name}.jsonl" for step in measures} for name in PARTS}
    gathered["injection"] = {"block1-inject": folder / "block1-inject" / "injection.json"}
    gathered["status"] = {step: folder / step / "status.json" for step in STEPS}
    inputs = {"spec": folder / "spec.json"}
    inputs |= {name: folder / "deploy" / f"{name}.json" for name in ("endpoint", "record")}
    return Context(RUN_ID, folder.parents[1], {}, inputs, outputs, gathered)


def test_the_summary_is_written_beside_the_report(folder: Path) -> None:
    assert conclude.run(context(folder)).status == "ok"
    summary = (folder / "conclude" / "summary.md").read_text()
    assert summary.startswith("## chaosgate: pass\n\n`stream-degradation`: Every gate objective holds.")
    assert "| first-token | ttft-p95 |" in summary
    assert (folder / "conclude" / "report.html").exists()


def test_a_run_that_measured_nothing_has_a_summary_too(folder: Path) -> None:
    for step in ("baseline-measure", "block1-measure"):
        (folder / step / "observations.jsonl").unlink()
    assert conclude.run(context(folder)).status == "ok"
    summary = (folder / "conclude" / "summary.md").read_text()
    assert summary.startswith("## chaosgate: error\n")
    assert "observations.jsonl: cannot be read" in summary


def test_a_page_that_cannot_be_drawn_leaves_the_summary(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(view: object) -> str:
        raise RuntimeError("no plotting library")

    monkeypatch.setattr(conclude, "render_report", broken)
    with pytest.raises(RuntimeError, match="no plotting library"):
        conclude.run(context(folder))
    assert (folder / "conclude" / "summary.md").read_text().startswith("## chaosgate: pass\n")
