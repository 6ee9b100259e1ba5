"""A pushed commit as files while it is in quarantine: one push at a time, in a folder that does not outlive it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from changed_specs import GateError, Repository
from chaosgate_command import POLL, Ending

FOLDER = "pushes"
"""Below the state directory: where commits are checked out."""
LOCK = "push.lock"


def outside_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` without what binds git to the receiving repository and its quarantine."""
    return {name: value for name, value in environment.items() if not name.startswith("GIT_")}


@contextmanager
def turn(state: Path, ending: Ending, say: Callable[[str], None]) -> Iterator[Path]:
    """The folder for checkouts, once no other push is judged here: two drills at once would disturb one another.

    A GateError when the gate must end before its turn has come.
    """
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (state / LOCK).open("a") as lock:
        if not _taken(lock):
            say("waiting until another push has been judged")
        while not _taken(lock):
            if why := ending.why():
                raise GateError(f"{why}, while another push was being judged; push again later")
            time.sleep(POLL)
        folder = state / FOLDER
        # Whatever lies there is of a hook that was killed: the lock is ours.
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def _taken(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def check_out(repository: Repository, commit: str, parent: Path) -> Path:
    """A new folder below `parent` with the files of `commit`, a git repository of its own.

    Its objects are those of the receiving repository and the quarantine, so that nothing is copied and no reference of
    the receiving repository is touched, which git forbids here; a run in it finds the commit it belongs to. Symbolic
    links become files that hold their target: none can lead out of the folder.
    """
    folder = Path(tempfile.mkdtemp(dir=parent))
    inside = Repository(folder, outside_environment(os.environ))
    form = ["--object-format=sha256"] if len(commit) == 64 else []
    inside.git("init", "--quiet", "--template=", *form)
    alternates = folder / ".git" / "objects" / "info" / "alternates"
    alternates.parent.mkdir(parents=True, exist_ok=True)
    alternates.write_text("".join(f"{path}\n" for path in _object_folders(repository)))
    inside.git("config", "core.symlinks", "false")
    inside.git("-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--detach", commit)
    return folder


def _object_folders(repository: Repository) -> list[Path]:
    """Where git finds the objects of the push: in its quarantine, and in the repository that receives it."""
    own = os.fsdecode(repository.git("rev-parse", "--git-path", "objects")).rstrip("\n")
    others = os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")
    return [Path(path).absolute() for path in (own, *filter(None, others.split(os.pathsep)))]
