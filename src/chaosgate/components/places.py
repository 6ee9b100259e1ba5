"""Where a local run keeps its files, below the state directory, and whose they are."""

from __future__ import annotations

from pathlib import Path

from chaosgate.artifacts import SPEC
from chaosgate.artifacts.documents import read_envelope
from chaosgate.components.definition import Context
from chaosgate.errors import ArtifactError, UsageError


def run_dir(state: Path, run: str) -> Path:
    """The folder of one run."""
    return state / "runs" / run


def own_dir(context: Context) -> Path:
    """The folder of the run a component works for; a UsageError without a state directory."""
    return run_dir(own_state(context), context.run)


def own_state(context: Context) -> Path:
    """The state directory a component works in; a UsageError where it was given none."""
    if context.state is None:
        raise UsageError("a state directory is needed here: give --state DIR")
    return context.state


def spec_file(folder: Path) -> Path:
    """The resolved spec of a run."""
    return folder / SPEC.file


def spec_digest(file: Path) -> str:
    """The digest that a spec's file carries, read without loading the spec; `unknown` when the file is unreadable."""
    try:
        return str(read_envelope(file, SPEC)["spec"])
    except ArtifactError:
        return "unknown"


def step_file(folder: Path, step: str, file: str) -> Path:
    """A file that `step` writes."""
    return folder / step / file
