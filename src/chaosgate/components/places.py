"""Where a local run keeps its files, below the state directory."""

from __future__ import annotations

from pathlib import Path

from chaosgate.components.definition import Context
from chaosgate.errors import UsageError


def run_dir(state: Path, run: str) -> Path:
    """The folder of one run."""
    return state / "runs" / run


def own_dir(context: Context) -> Path:
    """The folder of the run a component works for; a UsageError without a state directory."""
    if context.state is None:
        raise UsageError("a state directory is needed here: give --state DIR")
    return run_dir(context.state, context.run)


def spec_file(folder: Path) -> Path:
    """The resolved spec of a run."""
    return folder / "spec.json"


def step_file(folder: Path, step: str, file: str) -> Path:
    """A file that `step` writes."""
    return folder / step / file
