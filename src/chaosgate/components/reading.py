"""A run read back from its files for reports and comparisons, however early it ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from chaosgate.artifacts import (
    ARTIFACTS,
    ESTIMATES,
    FIT,
    RECORD,
    SEAL,
    SPEC,
    TIMELINE,
    Artifact,
    Identity,
    read_document,
    read_if_there,
    read_lines,
)
from chaosgate.artifacts.documents import read_envelope
from chaosgate.artifacts.files import is_written
from chaosgate.components.definition import COMPONENTS
from chaosgate.components.places import spec_file, step_file
from chaosgate.components.recording import closed_record, injections, record_digest, verdict_in_force
from chaosgate.errors import ArtifactError, UsageError
from chaosgate.model.blocks import BASELINE, make_blocks
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.plan import CLEANUP, CONCLUDE, DEPLOY, step_id
from chaosgate.model.result import Cleanup, Reason, Record
from chaosgate.model.spec import ChaosSpec
from chaosgate.report.view import ReportView, RunFile


def read_view(run: str, folder: Path) -> ReportView:
    """All that the files of a run tell, and which of them are missing; an ArtifactError when even its spec is."""
    view, identity = read_results(run, folder), Identity(run, None)
    timeline = tuple(_timeline(view.spec, folder, identity))
    return replace(view, timeline=timeline, files=tuple(run_files(view.spec, folder, identity)))


def read_results(run: str, folder: Path) -> ReportView:
    """As `read_view`, without a look at what was measured request by request: quick, and enough to compare runs."""
    identity = Identity(run, None)
    spec = read_document(spec_file(folder), SPEC)
    opened = partial(read_if_there, step_file(folder, DEPLOY, RECORD.file), RECORD, identity)
    record = closed_record(folder, identity) or opened() or _unrecorded(spec, folder)
    return ReportView(
        spec=spec,
        run=run,
        verdict=verdict_in_force(folder, identity, record),
        estimates=read_if_there(step_file(folder, CONCLUDE, ESTIMATES.file), ESTIMATES, identity),
        fits=read_if_there(step_file(folder, CONCLUDE, FIT.file), FIT, identity),
        injections={injection.phase: injection for injection in injections(spec, folder, identity)},
        record=record,
        timeline=(),
        seal=read_seal(run, folder),
    )


def run_of(folder: Path) -> str:
    """The id of the run whose files stand in `folder`, which may have been moved; a UsageError when it holds no run."""
    if not spec_file(folder).is_file():
        raise UsageError(f"{folder}: holds no run ({SPEC.file} is missing); name a run, or the folder of one")
    for step in (CONCLUDE, DEPLOY):
        with suppress(ArtifactError):
            return str(read_envelope(step_file(folder, step, RECORD.file), RECORD)["run"])
    return folder.resolve().name


def read_seal(run: str, folder: Path) -> Cleanup | None:
    """What cleanup left, None when it has not run. A seal that does not hold is unclean, and says why."""
    file = step_file(folder, CLEANUP, SEAL.file)
    if not is_written(file):
        return None
    seal = read_if_there(file, SEAL, Identity(run, None))
    if seal is None:
        return Cleanup(clean=False, actions=(), left=(f"{SEAL.file} cannot be read",))
    digest = record_digest(folder, run)
    if seal.clean and (digest is None or seal.record_digest != digest):
        left = (*seal.left, "the record is not the one that was sealed")
        return seal.model_copy(update={"clean": False, "left": left})
    return seal


def _unrecorded(spec: ChaosSpec, folder: Path) -> Record:
    """The record of a run that ended before it had one. Its spec was written when it began."""
    began = datetime.fromtimestamp(spec_file(folder).stat().st_mtime, UTC)
    return Record(
        name=spec.metadata.name,
        verdict="error",
        reasons=(Reason(verdict="error", text="there is no record that can be read: the run ended before it had one"),),
        subject=None,
        started=began.isoformat(timespec="seconds"),
        finished=None,
        environment={},
        recorded="nowhere: there is no record",
    )


def run_steps(spec: ChaosSpec) -> Iterator[tuple[str, str]]:
    """The steps of a run that leave files, each with its component, in their order."""
    yield DEPLOY, "deploy"
    yield step_id(BASELINE, "measure"), "measure"
    for block in make_blocks(spec):
        yield step_id(block.phase, "measure"), "measure"
        yield step_id(block.phase, "inject"), "inject"
    yield CONCLUDE, "conclude"
    yield CLEANUP, "cleanup"


def run_files(spec: ChaosSpec, folder: Path, identity: Identity) -> Iterator[RunFile]:
    """Every file that a run is to leave behind, and what is wrong with it."""
    yield RunFile("", SPEC.file, None)
    for step, component in run_steps(spec):
        for port in COMPONENTS[component].outputs:
            artifact = ARTIFACTS[port.artifact]
            yield RunFile(step, port.file, _problem(step_file(folder, step, port.file), artifact, identity))


def _problem(path: Path, artifact: Artifact[Any], identity: Identity) -> str | None:
    """Why a file cannot be read. Of files that are not one document only its presence is looked at."""
    if not path.exists():
        return "missing"
    if not is_written(path):
        return "empty: there was nothing to write"
    if path.suffix != ".json":
        return None
    try:
        read_document(path, artifact, identity)
    except ArtifactError as error:
        return str(error).removeprefix(f"{path}: ")
    return None


def _timeline(spec: ChaosSpec, folder: Path, identity: Identity) -> Iterator[TimelineEvent]:
    """The events of every phase that can be read."""
    for step, component in run_steps(spec):
        if component == "measure":
            try:
                yield from read_lines(step_file(folder, step, TIMELINE.file), TIMELINE, identity)
            except ArtifactError:
                continue
