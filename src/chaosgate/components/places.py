"""Where a run keeps its files, below the state directory, and whose they are."""

from __future__ import annotations

import re
from pathlib import Path

from chaosgate.artifacts import SPEC
from chaosgate.artifacts.documents import read_envelope
from chaosgate.artifacts.files import unwritable, write_whole
from chaosgate.components.definition import Context
from chaosgate.errors import ArtifactError, UsageError
from chaosgate.model.base import NAME_PATTERN


def run_dir(state: Path, run: str) -> Path:
    """The folder of one run."""
    return state / "runs" / run


def known_runs(state: Path) -> list[str]:
    """The ids of the runs in the state directory, sorted; a folder without a spec or with no run's name is none."""
    folders = (path for path in (state / "runs").glob("*") if re.fullmatch(NAME_PATTERN, path.name))
    return sorted(path.name for path in folders if _holds_spec(path))


def _holds_spec(folder: Path) -> bool:
    try:
        return spec_file(folder).is_file()
    except PermissionError:
        # Another user's run: a folder of runs may be shared, a run is not.
        return False


def make_private(folder: Path) -> None:
    """Make the run's folder for this user alone: it holds the gateway's token and what the model said."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise unwritable(folder, error) from error


def ignore_in_git(state: Path) -> None:
    """Keep the state directory out of commits: it holds every run and their tokens."""
    file = state / ".gitignore"
    if not file.exists():
        write_whole(file, b"*\n")


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


def step_role(step: str) -> str:
    """How the log of `step` is called, and its process on this machine."""
    return f"step-{step}"


def step_file(folder: Path, step: str, file: str) -> Path:
    """A file that `step` writes."""
    return folder / step / file
