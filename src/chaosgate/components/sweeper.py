"""The sweeper: a watchdog outside the run's own life that cleans up when the runner is gone or time is over."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from chaosgate.artifacts import SEAL
from chaosgate.components import cleanup
from chaosgate.components.definition import Context
from chaosgate.components.places import run_dir, step_file
from chaosgate.deploy.processes import alive, registered
from chaosgate.model.plan import CLEANUP

POLL = 0.5
"""Seconds between two looks."""


def main(argv: Sequence[str]) -> int:
    """Wait until the run is sealed, its runner is gone or the deadline has passed; then seal it if nobody did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    words = parser.parse_args(argv)
    folder = run_dir(words.state, words.run)
    seal = step_file(folder, CLEANUP, SEAL.file)
    why = watch(folder, seal, words.seconds)
    if why is None:
        return 0
    print(f"sweeper: {why}: cleaning up", file=sys.stderr)
    return cleanup.run(Context(words.run, words.state, {}, {}, {"cleanup": seal}))


def watch(folder: Path, seal: Path, seconds: float) -> str | None:
    """Why the run must be swept; None once it is sealed or its folder is gone."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if seal.exists() or not folder.exists():
            return None
        if runner_gone(folder):
            return "the runner is gone"
        time.sleep(POLL)
    return f"the run did not end within {seconds:.0f} s"


def runner_gone(folder: Path) -> bool:
    """Whether a runner was written down and none of those runs any more."""
    runners = [process for process in registered(folder) if process.role == "runner"]
    return bool(runners) and not any(alive(runner) for runner in runners)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
