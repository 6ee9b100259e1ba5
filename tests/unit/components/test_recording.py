"""Recording a run again from its files: which record, under which seal, and which files leave the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_drill import write_spec

from chaosgate.artifacts import RECORD, SEAL, SPEC, VERDICT, Identity, write_document
from chaosgate.components import recording
from chaosgate.components.deploy import open_record
from chaosgate.components.recording import from_files, public_files, record_again, record_digest
from chaosgate.model.load import load_spec
from chaosgate.model.result import Cleanup, Reason, Verdict, VerdictName


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run that ended with a pass."""
    folder = tmp_path / "runs" / "r"
    spec = load_spec(write_spec(tmp_path))
    write_document(folder / "spec.json", SPEC, identity(folder), spec)
    write_document(folder / "deploy" / "record.json", RECORD, identity(folder), open_record(spec, None))
    conclude(folder, "pass", "pass")
    return folder


def identity(folder: Path) -> Identity:
    return Identity("r", load_spec(folder.parent.parent / "small-drill.yaml").digest())


def conclude(folder: Path, record: VerdictName, verdict: VerdictName) -> None:
    opened = open_record(load_spec(folder.parent.parent / "small-drill.yaml"), None)
    closed = opened.model_copy(update={"verdict": record, "reasons": (Reason(verdict=record, text="as recorded"),)})
    write_document(folder / "conclude" / "record.json", RECORD, identity(folder), closed)
    told = Verdict(verdict=verdict, reasons=(Reason(verdict=verdict, text="as judged"),))
    write_document(folder / "conclude" / "verdict.json", VERDICT, identity(folder), told)


def seal(folder: Path, digest: str | None, *, clean: bool = True) -> None:
    sealed = Cleanup(clean=clean, actions=(), record_digest=digest)
    write_document(folder / "cleanup" / "cleanup.json", SEAL, identity(folder), sealed)


@pytest.fixture
def seals(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """How the run was sealed in MLflow."""
    seals: list[bool] = []
    monkeypatch.setattr(recording, "record_run", lambda tracked, state: "m")
    monkeypatch.setattr(recording, "seal_run", lambda run, spec, state, clean: seals.append(clean))
    return seals


def test_a_record_that_is_the_sealed_one_is_sealed_clean(folder: Path, seals: list[bool]) -> None:
    seal(folder, record_digest(folder, "r"))
    assert record_again("r", folder.parent.parent, folder) == "m"
    assert seals == [True]


def test_a_run_without_a_seal_is_not_sealed(folder: Path, seals: list[bool]) -> None:
    record_again("r", folder.parent.parent, folder)
    assert seals == []


def other_record(folder: Path) -> None:
    conclude(folder, "warn", "warn")


def broken_record(folder: Path) -> None:
    (folder / "conclude" / "record.json").write_text("{}")
    seal(folder, None)


def broken_seal(folder: Path) -> None:
    (folder / "cleanup" / "cleanup.json").write_text("{}")


def unclean(folder: Path) -> None:
    seal(folder, record_digest(folder, "r"), clean=False)


@pytest.mark.parametrize("harm", [other_record, broken_record, broken_seal, unclean])
def test_any_other_record_is_sealed_unclean(folder: Path, seals: list[bool], harm: Any) -> None:
    seal(folder, record_digest(folder, "r"))
    harm(folder)
    record_again("r", folder.parent.parent, folder)
    assert seals == [False]


def test_the_verdict_is_told_with_its_own_reasons_while_the_record_agrees(folder: Path) -> None:
    assert from_files("r", folder).verdict.reasons[0].text == "as judged"


@pytest.mark.parametrize(("record", "verdict"), [("error", "pass"), ("fail", "pass"), ("pass", "fail")])
def test_where_the_verdict_says_something_else_the_record_counts(
    folder: Path, record: VerdictName, verdict: VerdictName
) -> None:
    conclude(folder, record, verdict)
    tracked = from_files("r", folder)
    assert (tracked.verdict.verdict, tracked.verdict.reasons[0].text) == (record, "as recorded")


def test_a_verdict_without_the_record_that_was_to_follow_is_an_error(folder: Path) -> None:
    (folder / "conclude" / "record.json").unlink()
    assert from_files("r", folder).verdict.verdict == "error"


def test_only_artifacts_leave_the_machine_and_no_links(folder: Path) -> None:
    (folder / "gateway.token").write_text("secret")
    (folder / "logs").mkdir()
    (folder / "logs" / "verdict.json").write_text("{}")
    (folder / "deploy" / "endpoint.json").symlink_to(folder / "gateway.token")
    found = [str(file.relative_to(folder)) for file in public_files(folder)]
    assert found == ["conclude/record.json", "conclude/verdict.json", "deploy/record.json", "spec.json"]
