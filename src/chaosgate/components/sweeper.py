"""The sweeper: a watchdog outside the run's own life that cleans up when the runner is gone or time is over."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from chaosgate.artifacts import SEAL
from chaosgate.components import cleanup
from chaosgate.components.definition import Context
from chaosgate.components.places import own_dir, run_dir, step_file
from chaosgate.deploy.processes import alive, registered, stop, strays
from chaosgate.errors import ChaosgateError
from chaosgate.model.plan import CLEANUP
from chaosgate.model.result import EXIT_UNCLEAN, Process

POLL = 0.5
"""Seconds between two looks."""
PAUSE = 5.0
"""Seconds between two attempts to clean up."""


def main(argv: Sequence[str]) -> int:
    """Wait until the run is sealed clean, its runner is gone or the deadline has passed; then seal it if nobody did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True)
    parser.add_argument("--state", type=Path, help="of a local run; left out on a cluster")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--carried", action="store_true", help="by a workflow of the cluster, without which it is over")
    words = parser.parse_args(argv)
    deadline = time.monotonic() + words.seconds
    if words.state is None:
        from chaosgate.components import cluster_sweeper

        return cluster_sweeper.guard(words.run, deadline, words.carried)
    folder = run_dir(words.state, words.run)
    context = Context(words.run, words.state, {}, {}, {"cleanup": step_file(folder, CLEANUP, SEAL.file)})
    why = watch(context, runner_of(folder), deadline)
    if why is None:
        return 0
    say(f"{why}: cleaning up")
    return sweep(context, deadline)


def runner_of(folder: Path) -> Process | None:
    """Who runs the run, as it wrote itself down; read once, for the folder may be removed later."""
    return next((process for process in registered(folder) if process.role == "runner"), None)


def watch(context: Context, runner: Process | None, deadline: float) -> str | None:
    """Why the run must be swept; None once it is sealed clean. `deadline` is a time of the monotonic clock."""
    while time.monotonic() < deadline:
        if is_sealed(context):
            return None
        if runner is not None and not alive(runner):
            return "the runner is gone"
        time.sleep(POLL)
    return "the run did not end in time"


def sweep(context: Context, deadline: float) -> int:
    """Clean up, again and again until that is proved or the deadline has passed; once in any case."""
    while True:
        code = clean(context)
        if code == 0 or time.monotonic() >= deadline:
            return code
        time.sleep(PAUSE)


def clean(context: Context) -> int:
    """One attempt: 0 when the run is clean, EXIT_UNCLEAN when it is not or that could not be written down."""
    folder = own_dir(context)
    if not folder.is_dir():
        # Without its folder nothing of the run can be sealed, but what it started still carries its mark.
        stopped = [stop(process) for process in strays(folder)]
        say(f"{folder} is gone; stopped {stopped.count(True)} of its processes")
        return EXIT_UNCLEAN if any(strays(folder)) else 0
    try:
        return cleanup.run(context)
    except (ChaosgateError, OSError) as error:
        say(str(error))
        return 0 if is_sealed(context) else EXIT_UNCLEAN


def is_sealed(context: Context) -> bool:
    """Whether the run has a clean seal that holds."""
    return cleanup.sealed(context.outputs["cleanup"], own_dir(context), context.run) is not None


def say(text: str) -> None:
    """A line in the sweeper's log, where there is room for one: a full disk must not end the watch."""
    with contextlib.suppress(OSError):
        print(f"sweeper: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
