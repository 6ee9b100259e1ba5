"""The files of a run that ended, without a server: the passing simulated run, or one with something changed."""

from __future__ import annotations

from pathlib import Path

from judged_run import RUN, passing, verdict
from simulated_run import SUBJECT, passing_fits, write_run

from chaosgate.artifacts import (
    ESTIMATES,
    FIT,
    INJECTION,
    RECORD,
    RECORDING,
    SEAL,
    VERDICT,
    Identity,
    write_document,
    write_spec,
)
from chaosgate.components.recording import record_digest
from chaosgate.model.result import Cleanup, Estimates, Fits, Record, Recording, Subject
from chaosgate.model.spec import ChaosSpec


def finish(
    folder: Path,
    *,
    spec: ChaosSpec | None = None,
    estimates: Estimates | None = None,
    fits: Fits | None = None,
    subject: Subject = SUBJECT,
    environment: dict[str, str] | None = None,
    seal: bool = True,
) -> Path:
    """What the steps from the first injection on leave of a run called as its folder; sealed clean unless told."""
    spec, estimates, fits = spec or RUN.spec, estimates or passing(), fits or passing_fits()
    identity, judged = Identity(folder.name, spec.digest()), verdict(estimates, spec=spec, fits=fits, subject=subject)
    write_spec(folder / "spec.json", spec)
    record = Record(
        name=spec.metadata.name,
        verdict=judged.verdict,
        reasons=judged.reasons,
        subject=subject,
        started="2026-03-01T09:30:00+00:00",
        finished="2026-03-01T09:31:38+00:00",
        environment=environment or {"python": "3.11.9"},
        recorded="nowhere",
    )
    for step, injection in RUN.injections.items():
        write_document(folder / f"{step}-inject" / "injection.json", INJECTION, identity, injection)
    concluded = folder / "conclude"
    write_document(concluded / "estimates.json", ESTIMATES, identity, estimates)
    write_document(concluded / "fit.json", FIT, identity, fits)
    write_document(concluded / "record.json", RECORD, identity, record)
    write_document(concluded / "verdict.json", VERDICT, identity, judged)
    write_document(concluded / "recording.json", RECORDING, identity, Recording(mlflow_run=None, reason="no MLflow"))
    if seal:
        seal_run(folder)
    return folder


def seal_run(folder: Path, *, clean: bool = True, left: tuple[str, ...] = ()) -> None:
    """Seal the record that is in force."""
    sealed = Cleanup(clean=clean, actions=(), left=left, record_digest=record_digest(folder, folder.name))
    write_document(folder / "cleanup" / "cleanup.json", SEAL, Identity(folder.name, RUN.spec.digest()), sealed)


def measured(folder: Path) -> Path:
    """What the steps of the passing simulated run leave until they are concluded; its id is simulated_run.RUN_ID."""
    write_run(RUN, folder)
    return folder
