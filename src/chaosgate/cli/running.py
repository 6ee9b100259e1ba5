"""Commands that look at a run and end it: status, logs, abort."""

from __future__ import annotations

import getpass
import json
import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import click

from chaosgate.cli.completion import complete_runs, complete_steps
from chaosgate.cli.options import output_option, state_option
from chaosgate.cli.runs import find_run
from chaosgate.errors import UsageError

MAX_REASON = 500
"""Characters of a reason: it is one line of a verdict."""


@click.command()
@click.argument("run_id", metavar="[RUN]", required=False, shell_complete=complete_runs)
@state_option
@output_option
def status(run_id: str | None, state: Path, output: str) -> None:
    """Show how a run stands; without RUN every run, the newest first."""
    from chaosgate.cli.status_text import print_runs, print_status
    from chaosgate.run.status import list_runs, read_status

    if run_id is None:
        lines = list_runs(state)
        if output == "json":
            click.echo(json.dumps([line.to_json() for line in lines], indent=2))
        else:
            print_runs(lines, state)
        return
    find_run(state, run_id)
    found = read_status(state, run_id)
    if output == "json":
        click.echo(json.dumps(found.to_json(), indent=2))
    else:
        print_status(found)


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_runs)
@click.argument("step", metavar="[STEP]", required=False, shell_complete=complete_steps)
@click.option("-f", "--follow", is_flag=True, help="Go on until the run is sealed.")
@click.option("--tail", type=click.IntRange(min=0), metavar="N", help="Only the last N lines of each log so far.")
@state_option
def logs(run_id: str, step: str | None, follow: bool, tail: int | None, state: Path) -> None:
    """Print what the steps and servers of a run logged; STEP is one of them, such as block1-measure or gateway."""
    from chaosgate.cli.log_lines import LogPrinter
    from chaosgate.registry import unknown
    from chaosgate.run.logs import log_files, step_names

    folder = find_run(state, run_id)
    known = dict.fromkeys((*log_files(folder), *step_names(folder)))
    if step is not None and step not in known:
        raise UsageError(f"{run_id}: {unknown('step or server', step, known)}")
    LogPrinter(folder, run_id, step, max(map(len, known), default=0)).print_all(tail, follow=follow)


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_runs)
@click.option("--reason", default="", metavar="TEXT", help="Why; it stands in the verdict, the record and the report.")
@state_option
@output_option
def abort(run_id: str, reason: str, state: Path, output: str) -> None:
    """End a run now: every fault goes off at once, its steps end, and it is cleaned up and sealed.

    The verdict of an aborted run is `error`, and its own exit code 143. Where its runner is gone, this command cleans
    up itself. Exit code: 0 when the run is over and nothing is left, also when it was over before; 4 when that is not
    proved.
    """
    from chaosgate.cli.status_text import abort_lines
    from chaosgate.components.aborting import NO_REASON, Abort
    from chaosgate.run.abort import abort_run

    if len(reason) > MAX_REASON:
        raise UsageError(f"--reason: has {len(reason)} characters; at most {MAX_REASON} are allowed")
    find_run(state, run_id)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    asked = Abort(by=_who(), reason=reason.strip() or NO_REASON, at=now)
    # A reader that leaves must not end the abort half way.
    say = _patient(lambda line: click.echo(line, err=output == "json"))
    ended = abort_run(state, run_id, asked, say)
    if output == "json":
        _patient(click.echo)(json.dumps(ended.to_json(), indent=2))
    else:
        for line in abort_lines(ended):
            say(line)
    raise click.exceptions.Exit(ended.exit_code)


def _patient(say: Callable[[str], None]) -> Callable[[str], None]:
    """`say`, but quiet once nobody listens."""

    def told(line: str) -> None:
        try:
            say(line)
        except BrokenPipeError:
            from chaosgate.cli.console import silence_stdout

            silence_stdout()

    return told


def _who() -> str:
    """`ann@laptop`: who aborts, for the record; a container's user may have no name."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = f"uid-{os.getuid()}"
    return f"{user}@{socket.gethostname()}"
