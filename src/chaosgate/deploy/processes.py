"""Local processes of a run: started in a session of their own, written down, and found again to be stopped."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import psutil
from pydantic import ValidationError

from chaosgate.artifacts.files import unwritable, write_whole
from chaosgate.errors import ArtifactError
from chaosgate.model.result import Process, ProcessPlace

GRACE = 5.0
"""Seconds a process has to end after SIGTERM before it is killed."""
MARK = "CHAOSGATE_RUN_FOLDER"
"""The environment variable that every process of a run inherits, and so do those that these start: whoever starts a
process may be killed before it has written it down."""
PROC = Path("/proc")
"""Where Linux tells of processes; elsewhere psutil has to do."""
START_TIME = 22 - 3
"""Where the start time stands behind the program's name in /proc/PID/stat: proc_pid_stat(5), field 22; the name, which
may hold spaces, is field 2."""


def python(*words: str) -> list[str]:
    """The command line of this Python with `words`; modules in the current directory are not found by it."""
    # With -m, Python would look there first: a repository with a queue.py of its own would break every step.
    return [sys.executable, "-P", *words]


def spawn(run_dir: Path, role: str, argv: Sequence[str]) -> tuple[Process, subprocess.Popen[bytes]]:
    """Start `argv` detached from this process' session, log to `<run>/logs/<role>.log`, and write it down.

    It survives its parent, so whatever is started here must be stopped by `stop`; the sweeper sees to that. An
    ArtifactError when it cannot be logged or written down; nothing runs then.
    """
    with open_log(run_dir, role) as output:
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env=marked_environment(run_dir),
        )
    return register_child(run_dir, role, child), child


def open_log(run_dir: Path, role: str) -> IO[bytes]:
    """The log of `role`, opened to append; an ArtifactError when the folder takes no file."""
    log = log_file(run_dir, role)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        return log.open("ab")
    except OSError as error:
        raise unwritable(log, error) from error


def log_file(run_dir: Path, role: str) -> Path:
    """Where `role` of a run logs to."""
    return run_dir / "logs" / f"{role}.log"


def marked_environment(run_dir: Path) -> dict[str, str]:
    """This process' environment, with the mark of the run."""
    return {**os.environ, MARK: str(run_dir)}


def register_child(run_dir: Path, role: str, child: subprocess.Popen[Any]) -> Process:
    """Write the child down as `role`; a child that cannot be written down is killed before the error is raised."""
    try:
        return register(run_dir, role, child.pid)
    except ArtifactError:
        child.kill()
        child.wait()
        raise


def register(run_dir: Path, role: str, pid: int) -> Process:
    """Write down that process `pid` belongs to the run as `role`."""
    process = Process(role=role, pid=pid, created=created(pid), place=here())
    write_whole(run_dir / "processes" / f"{role}.json", process.model_dump_json().encode())
    return process


def registered(run_dir: Path) -> list[Process]:
    """Every process the run wrote down, running or not. A file that cannot be read is left out: `strays` finds more."""
    found = []
    for file in sorted((run_dir / "processes").glob("[!.]*.json")):
        try:
            found.append(Process.model_validate_json(file.read_bytes()))
        except (OSError, ValidationError):
            continue
    return found


def strays(run_dir: Path) -> Iterator[Process]:
    """Every running process that carries the run's mark, whether or not it was written down; this one is left out."""
    place = here()
    for found in psutil.process_iter():
        try:
            if found.pid != os.getpid() and found.environ().get(MARK) == str(run_dir):
                yield Process(role="stray", pid=found.pid, created=created(found.pid), place=place)
        except psutil.Error:
            # It ended meanwhile, or it is another user's and so none of this run.
            continue


def here() -> ProcessPlace:
    """The place of this process."""
    boot, namespace = PROC / "sys/kernel/random/boot_id", PROC / "self/ns/pid"
    return ProcessPlace(
        host=socket.gethostname(),
        boot=boot.read_text().strip() if boot.exists() else None,
        namespace=os.readlink(namespace) if namespace.is_symlink() else None,
    )


def elsewhere(process: Process) -> bool:
    """Whether the process belongs to another machine or PID namespace, so that nothing can be said of it from here.

    One of this machine before it was started again is not elsewhere: it is gone.
    """
    return not _is_here(process.place) and not _before_restart(process.place)


def _is_here(place: ProcessPlace) -> bool:
    current = here()
    if place.boot is None or current.boot is None:
        return place == current
    return (place.boot, place.namespace) == (current.boot, current.namespace)


def _before_restart(place: ProcessPlace) -> bool:
    current = here()
    return place.host == current.host and None not in (place.boot, current.boot) and place.boot != current.boot


def created(pid: int) -> float:
    """When process `pid` started, as `Process.created` says; 0 when it is gone already."""
    try:
        if (PROC / "self/stat").exists():
            fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
            return float(fields[START_TIME])
        return float(psutil.Process(pid).create_time())
    except (FileNotFoundError, ProcessLookupError, psutil.NoSuchProcess):
        return 0.0


def alive(process: Process) -> bool:
    """Whether this very process runs here: a later one with the same id does not count, nor does a zombie."""
    return _find(process) is not None


def _find(process: Process) -> psutil.Process | None:
    if not _is_here(process.place):
        return None
    try:
        found = psutil.Process(process.pid)
        same = created(process.pid) == process.created and found.status() != psutil.STATUS_ZOMBIE
        return found if same else None
    except psutil.NoSuchProcess:
        return None


def ask_to_end(process: Process) -> bool:
    """Send the process SIGTERM and nothing more; False where this very process does not run or may not be signalled."""
    found = _find(process)
    if found is None:
        return False
    try:
        # psutil looks at its identity once more: an id that was given away meanwhile is not signalled.
        found.terminate()
    except psutil.Error:
        return False
    return True


def stop(process: Process, grace: float = GRACE) -> bool:
    """End the process: SIGTERM, then SIGKILL after `grace` seconds. True when it is gone, False where nobody knows."""
    for signal_name in ("terminate", "kill"):
        # The one that was looked at is the one that is signalled: psutil refuses when its id was given away meanwhile.
        found = _find(process)
        if found is None:
            break
        try:
            getattr(found, signal_name)()
        except psutil.Error:
            # It ended meanwhile, or it is another user's; the next look says which.
            continue
        _wait_gone(process, grace)
    return not alive(process) and not elsewhere(process)


def _wait_gone(process: Process, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while alive(process) and time.monotonic() < deadline:
        time.sleep(0.02)


def last_lines(run_dir: Path, role: str, count: int = 5) -> str:
    """The last lines a process wrote, for an error message."""
    log = log_file(run_dir, role)
    if not log.exists():
        return "(it wrote nothing)"
    lines = log.read_text(errors="replace").strip().splitlines()
    return "\n".join(lines[-count:]) or "(it wrote nothing)"
