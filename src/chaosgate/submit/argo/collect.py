"""Bring what a run left on its cluster into a folder like that of a local run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from chaosgate.artifacts import ARTIFACTS, RECORDING, SEAL, Identity, write_document
from chaosgate.artifacts.files import write_whole
from chaosgate.cluster.api import Cluster
from chaosgate.components.places import step_file
from chaosgate.components.recording import record_digest
from chaosgate.deploy.cluster.clean import is_marked, own_objects
from chaosgate.errors import TrackingError
from chaosgate.model.plan import CLEANUP, CONCLUDE
from chaosgate.model.result import Cleanup
from chaosgate.model.spec import ChaosSpec
from chaosgate.submit.argo.told import parse_told, read_told
from chaosgate.submit.argo.workflow import Workflow
from chaosgate.submit.interrupts import Interrupts
from chaosgate.tracking.mlflow_record import fetch_run

SWEPT = 180.0
"""Seconds in which a sweeper that saw its workflow end has cleaned up: it looks every two, and deletes for a minute."""
POLL = 2.0


def collect(run: str, spec: ChaosSpec, workflow: Workflow | None, folder: Path) -> str | None:
    """Every file of the run that MLflow holds, then what the workflow itself tells, which counts where both differ.

    Returns why files are missing, None when they are all there.
    """
    missing = _fetch(run, spec, workflow, folder)
    for step, name, text in workflow.told() if workflow is not None else ():
        # One that is cut or another run's is left out, and then counts as missing.
        if name in ARTIFACTS and parse_told(run, text, ARTIFACTS[name]) is not None:
            write_whole(step_file(folder, step, ARTIFACTS[name].file), text.encode())
    return missing


def _fetch(run: str, spec: ChaosSpec, workflow: Workflow | None, folder: Path) -> str | None:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetched-") as place:
        try:
            fetch_run(run, spec, None, Path(place))
        except TrackingError as error:
            return _unrecorded(workflow) or str(error)
        for file in _artifacts(Path(place)):
            target = folder / file.relative_to(place)
            target.parent.mkdir(exist_ok=True)
            shutil.move(file, target)
    return None


def _unrecorded(workflow: Workflow | None) -> str | None:
    """Why conclude itself could not record the run, where it says so."""
    recording = read_told(workflow, CONCLUDE, RECORDING) if workflow is not None else None
    return recording.reason if recording is not None else None


def _artifacts(place: Path) -> Iterator[Path]:
    """The files of a run in `place`: names that a run has, at its depth; a server may hand out anything."""
    names = {artifact.file for artifact in ARTIFACTS.values()}
    for file in (*place.glob("*"), *place.glob("*/*")):
        if file.name in names and file.is_file() and not file.is_symlink():
            yield file


def seal_from_here(cluster: Cluster, run: str, spec: ChaosSpec, folder: Path, interrupts: Interrupts) -> Cleanup:
    """The seal of a run whose workflow left none: it waits for the sweeper, then says what is still there.

    It is written into `folder`. A ClusterError when that cannot be looked at.
    """
    waited = 0.0
    while is_marked(cluster, run) and waited < SWEPT and not interrupts.again:
        interrupts.wait(POLL)
        waited += POLL
    left = [f"{kind} {name}" for kind, name in own_objects(cluster, run)]
    if is_marked(cluster, run):
        left.append("the run's marker, which stands until all is cleaned up")
    seal = Cleanup(
        clean=not left,
        actions=("looked for what the run may have left on the cluster",),
        left=tuple(left),
        record_digest=record_digest(folder, run),
    )
    keep_seal(run, spec, folder, seal)
    return seal


def keep_seal(run: str, spec: ChaosSpec, folder: Path, seal: Cleanup) -> None:
    """Write the seal into the run's folder."""
    write_document(step_file(folder, CLEANUP, SEAL.file), SEAL, Identity(run, spec.digest()), seal)
