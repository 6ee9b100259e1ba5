"""The abort of a local run: who ended it and why, in a file of its folder that its conclusion reads."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from chaosgate.artifacts.files import read_whole, write_whole
from chaosgate.components.definition import Context
from chaosgate.components.places import own_dir
from chaosgate.errors import ArtifactError
from chaosgate.model.base import Frozen, Line

FILE = "abort.json"
NO_REASON = "no reason was given"


class Abort(Frozen):
    """Who aborted a run, why, and when (ISO 8601, UTC)."""

    by: Line
    reason: Line
    at: str

    def sentence(self) -> str:
        """`aborted by ann@laptop: the pager went off`."""
        return f"aborted by {self.by}: {self.reason}"


def write_abort(folder: Path, abort: Abort) -> Abort:
    """Note `abort`, unless there is one already; the one that stands. An ArtifactError when it cannot be written."""
    before = read_abort(folder)
    if before is not None:
        return before
    write_whole(folder / FILE, abort.model_dump_json().encode())
    return abort


def read_abort(folder: Path) -> Abort | None:
    """The abort of the run in `folder`, None while it was not aborted. One that cannot be read is an abort, too."""
    file = folder / FILE
    if not file.exists():
        return None
    try:
        return Abort.model_validate_json(read_whole(file))
    except (ArtifactError, ValidationError):
        return Abort(by="somebody", reason=f"{file} cannot be read", at="unknown")


def abort_of(context: Context) -> Abort | None:
    """The abort of the run a component works for; a run on a cluster has no folder, and so none."""
    return None if context.state is None else read_abort(own_dir(context))
