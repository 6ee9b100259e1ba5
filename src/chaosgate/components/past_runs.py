"""The earlier runs of a spec as reports read them: from the state directory, or from MLflow."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from chaosgate.artifacts import SPEC, read_document
from chaosgate.components.places import known_runs, run_dir, spec_file
from chaosgate.components.reading import read_results
from chaosgate.errors import ArtifactError
from chaosgate.model.result import Cleanup
from chaosgate.model.spec import ChaosSpec
from chaosgate.report.view import ReportView
from chaosgate.tracking.past import fetch_past


def local_runs(state: Path, spec: ChaosSpec) -> list[ReportView]:
    """The runs of `spec` in the state directory, whatever became of them; one that cannot be read is none."""
    return list(_local_runs(state, spec.digest()))


def _local_runs(state: Path, digest: str) -> Iterator[ReportView]:
    for run in known_runs(state):
        folder = run_dir(state.resolve(), run)
        with suppress(ArtifactError):
            if read_document(spec_file(folder), SPEC).digest() == digest:
                yield read_results(run, folder)


def tracked_runs(run: str, spec: ChaosSpec, state: Path) -> list[ReportView]:
    """The runs of `spec` that MLflow holds sealed clean, asked on behalf of `run`; raises TrackingError.

    MLflow has the seal as a tag: it is set once cleanup has proved its record.
    """
    with tempfile.TemporaryDirectory() as folder:
        return list(_tracked_runs(fetch_past(run, spec, state.resolve(), Path(folder))))


def _tracked_runs(folders: dict[str, Path]) -> Iterator[ReportView]:
    for name, folder in folders.items():
        with suppress(ArtifactError):
            yield replace(read_results(name, folder), seal=Cleanup(clean=True, actions=()))
