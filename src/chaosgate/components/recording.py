"""Record a run in MLflow, now or later; the run's verdict never depends on whether that works."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from chaosgate.artifacts import (
    ARTIFACTS,
    ESTIMATES,
    FIT,
    INJECTION,
    RECORD,
    RECORDING,
    SEAL,
    SPEC,
    VERDICT,
    Identity,
    read_document,
    read_if_there,
    write_document,
)
from chaosgate.artifacts.documents import read_envelope
from chaosgate.artifacts.files import is_written
from chaosgate.components.places import spec_file, step_file
from chaosgate.errors import ArtifactError, TrackingError
from chaosgate.model.blocks import make_blocks
from chaosgate.model.plan import CLEANUP, CONCLUDE, DEPLOY, step_id
from chaosgate.model.result import Injection, Record, Recording, Verdict
from chaosgate.model.spec import ChaosSpec
from chaosgate.model.uri import without_password
from chaosgate.tracking.location import tracking_uri
from chaosgate.tracking.mlflow_record import record_run, seal_run
from chaosgate.tracking.pages import TrackedRun

PRIVATE = ("logs", "processes", "ready")
"""Folders of a run that stay on this machine."""


def place_of(spec: ChaosSpec, state: Path | None) -> str:
    """Where the run is recorded, in words."""
    try:
        uri = without_password(tracking_uri(spec, state))
    except TrackingError as error:
        return f"nowhere: {error}"
    return f"experiment {spec.spec.tracking.experiment} of MLflow at {uri}"


def record(tracked: TrackedRun, state: Path | None) -> Recording:
    """Record the run and say how that went; an MLflow that is missing or unreachable is a reason, no error."""
    try:
        return Recording(mlflow_run=record_run(tracked, state))
    except TrackingError as error:
        return Recording(mlflow_run=None, reason=str(error))


def record_again(run: str, state: Path, folder: Path) -> str:
    """Record a run from its files, finished or not, with its seal; the MLflow run id. Raises TrackingError.

    A seal that cannot be read, or that another record was sealed with, seals nothing clean.
    """
    tracked = from_files(run, folder)
    mlflow_run = record_run(tracked, state)
    identity = Identity(run, tracked.spec.digest())
    write_document(recording_file(folder), RECORDING, identity, Recording(mlflow_run=mlflow_run))
    seal = step_file(folder, CLEANUP, SEAL.file)
    if is_written(seal):
        cleanup = read_if_there(seal, SEAL, Identity(run, None))
        in_force = record_digest(folder, run)
        clean = cleanup is not None and cleanup.clean and in_force is not None and cleanup.record_digest == in_force
        seal_run(run, tracked.spec, state, clean)
    return mlflow_run


def from_files(run: str, folder: Path) -> TrackedRun:
    """The run as its files tell it. Only its spec and one of its records must be there.

    Where the verdict's file does not say what the record in force says, the record counts: it is what is sealed.
    """
    identity = Identity(run, None)
    spec = read_document(spec_file(folder), SPEC)
    concluded = partial(step_file, folder, CONCLUDE)
    closed = closed_record(folder, identity) or read_document(step_file(folder, DEPLOY, RECORD.file), RECORD, identity)
    return TrackedRun(
        run=run,
        spec=spec,
        verdict=verdict_in_force(folder, identity, closed),
        estimates=read_if_there(concluded(ESTIMATES.file), ESTIMATES, identity),
        fits=read_if_there(concluded(FIT.file), FIT, identity),
        injections=tuple(injections(spec, folder, identity)),
        record=closed,
        files={file.relative_to(folder).as_posix(): file for file in public_files(folder)},
    )


def closed_record(folder: Path, identity: Identity) -> Record | None:
    """The conclusion's record, None when there is none that can be read."""
    return read_if_there(step_file(folder, CONCLUDE, RECORD.file), RECORD, identity)


def verdict_in_force(folder: Path, identity: Identity, record: Record) -> Verdict:
    """The verdict as it was judged, or as `record` tells it where the two do not agree."""
    judged = read_if_there(step_file(folder, CONCLUDE, VERDICT.file), VERDICT, identity)
    if judged is not None and judged.verdict == record.verdict:
        return judged
    return Verdict(verdict=record.verdict, reasons=record.reasons, subject=record.subject)


def injections(spec: ChaosSpec, folder: Path, identity: Identity) -> Iterator[Injection]:
    """What was injected in each block that got so far."""
    for block in make_blocks(spec):
        file = step_file(folder, step_id(block.phase, "inject"), INJECTION.file)
        found = read_if_there(file, INJECTION, identity)
        if found is not None:
            yield found


def public_files(folder: Path) -> Iterator[Path]:
    """The artifacts of the run: no log, no token, no process list, and no link, which may lead to any of these."""
    names = {artifact.file for artifact in ARTIFACTS.values()}
    for file in sorted(folder.rglob("*")):
        private = file.is_symlink() or file.relative_to(folder).parts[0] in PRIVATE
        if file.name in names and not private and is_written(file):
            yield file


def record_file(folder: Path) -> Path | None:
    """The record in force: the conclusion's, else the one deploy opened."""
    files = (step_file(folder, step, RECORD.file) for step in (CONCLUDE, DEPLOY))
    return next(filter(is_written, files), None)


def record_digest(folder: Path, run_id: str) -> str | None:
    """The digest of the record in force, None when there is none that can be read."""
    file = record_file(folder)
    try:
        return None if file is None else str(read_envelope(file, RECORD, Identity(run_id, None))["digest"])
    except ArtifactError:
        return None


def recording_file(folder: Path) -> Path:
    """Where it stands whether a run is recorded."""
    return step_file(folder, CONCLUDE, RECORDING.file)
