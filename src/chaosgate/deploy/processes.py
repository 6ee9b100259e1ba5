"""Local processes of a run: started in a session of their own, written down, and found again to be stopped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from chaosgate.artifacts.files import write_whole
from chaosgate.model.result import Process

GRACE = 5.0
"""Seconds a process has to end after SIGTERM before it is killed."""


def python(*words: str) -> list[str]:
    """The command line of this Python with `words`."""
    return [sys.executable, *words]


def spawn(
    run_dir: Path, role: str, argv: Sequence[str], environment: Mapping[str, str] | None = None
) -> tuple[Process, subprocess.Popen[bytes]]:
    """Start `argv` detached from this process' session, log to `<run>/logs/<role>.log`, and write it down.

    It survives its parent, so whatever is started here must be stopped by `stop`; the sweeper sees to that.
    """
    log = run_dir / "logs" / f"{role}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env={**os.environ, **(environment or {})},
        )
    return register(run_dir, role, child.pid), child


def register(run_dir: Path, role: str, pid: int) -> Process:
    """Write down that process `pid` belongs to the run as `role`."""
    process = Process(role=role, pid=pid, created=created(pid))
    write_whole(run_dir / "processes" / f"{role}.json", process.model_dump_json().encode())
    return process


def registered(run_dir: Path) -> list[Process]:
    """Every process the run wrote down, running or not."""
    return [
        Process.model_validate_json(file.read_bytes()) for file in sorted((run_dir / "processes").glob("[!.]*.json"))
    ]


def created(pid: int) -> float:
    """When process `pid` started, in seconds since the epoch; 0 when it is gone already."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return 0.0


def alive(process: Process) -> bool:
    """Whether this very process runs: a later one with the same id does not count, nor does a zombie."""
    try:
        found = psutil.Process(process.pid)
        # Two readings of one start time may differ in the last bits of the boot time they are computed from.
        same = abs(found.create_time() - process.created) < 1.0
        return same and found.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def stop(process: Process, grace: float = GRACE) -> bool:
    """End the process and its session: SIGTERM, then SIGKILL after `grace` seconds. True when it is gone."""
    for signal_name, seconds in (("terminate", grace), ("kill", grace)):
        if not alive(process):
            return True
        try:
            getattr(psutil.Process(process.pid), signal_name)()
        except psutil.NoSuchProcess:
            return True
        _wait_gone(process, seconds)
    return not alive(process)


def _wait_gone(process: Process, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while alive(process) and time.monotonic() < deadline:
        time.sleep(0.02)


def last_lines(run_dir: Path, role: str, count: int = 5) -> str:
    """The last lines a process wrote, for an error message."""
    log = run_dir / "logs" / f"{role}.log"
    if not log.exists():
        return "(it wrote nothing)"
    lines = log.read_text(errors="replace").strip().splitlines()
    return "\n".join(lines[-count:]) or "(it wrote nothing)"
