"""The logs of a local run: one file a step and a server, read while they grow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from chaosgate.artifacts import SEAL
from chaosgate.components.cleanup import sealed
from chaosgate.components.places import step_file
from chaosgate.components.where import is_on_cluster
from chaosgate.deploy.processes import alive, registered
from chaosgate.model.plan import CLEANUP
from chaosgate.run.journal import read_journal

STEP = "step-"
"""How the role of a step begins; people name the step alone."""
ENDING = ("runner", "sweeper")
"""Who may still seal a run."""


def log_files(folder: Path) -> dict[str, Path]:
    """The logs there are, by step or server: the steps in the order of the plan, then the servers."""
    files = (path for path in sorted((folder / "logs").glob("[!.]*.log")) if path.is_file())
    found = {path.stem.removeprefix(STEP): path for path in files}
    steps = [name for name in step_names(folder) if name in found]
    return {name: found[name] for name in (*steps, *sorted(found.keys() - set(steps)))}


def step_names(folder: Path) -> list[str]:
    """The steps of the run's plan, started or not."""
    return [entry.step for entry in read_journal(folder).steps]


def is_over(folder: Path, run: str) -> bool:
    """Whether nothing more will be logged: the run is sealed, or nobody is left who could seal it."""
    if is_on_cluster(folder) or sealed(step_file(folder, CLEANUP, SEAL.file), folder, run) is not None:
        return True
    return not any(process.role in ENDING and alive(process) for process in registered(folder))


class Reader(Protocol):
    """One log while it grows."""

    def lines(self, *, rest: bool = False) -> Iterator[str]: ...
    def tail(self, count: int | None) -> Iterator[str]: ...


class Logs(Protocol):
    """The logs of a run, wherever they are kept."""

    poll: float
    """Seconds between two looks at logs that are followed."""

    def names(self) -> Iterable[str]:
        """The steps and servers that have a log now, in the order in which they are shown."""

    def open(self, name: str) -> Reader:
        """The log of one of `names`, from its beginning."""

    def is_over(self) -> bool:
        """Whether nothing more will be logged."""


class FolderLogs:
    """The logs in the folder of a run."""

    poll = 0.2

    def __init__(self, folder: Path, run: str) -> None:
        self._folder, self._run = folder, run

    def names(self) -> Iterable[str]:
        """The logs there are."""
        return log_files(self._folder)

    def open(self, name: str) -> LogReader:
        """One of them."""
        return LogReader(log_files(self._folder)[name])

    def is_over(self) -> bool:
        """Whether the run is over."""
        return is_over(self._folder, self._run)


class LogReader:
    """The lines of one log, as far as they are written; each is given once."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._position = 0

    def lines(self, *, rest: bool = False) -> Iterator[str]:
        """The lines written since the last call; a last one without its end only when `rest` is asked for."""
        with self._file.open("rb") as log:
            log.seek(self._position)
            for line in log:
                if not (rest or line.endswith(b"\n")):
                    return
                self._position += len(line)
                yield line.decode(errors="replace").rstrip("\r\n")

    def tail(self, count: int | None) -> Iterator[str]:
        """The last `count` whole lines written so far, all of them for None."""
        return iter(deque(self.lines(), maxlen=count))
