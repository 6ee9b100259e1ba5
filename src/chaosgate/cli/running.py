"""Commands that look at a run and end it: status, logs, abort."""

from __future__ import annotations

import getpass
import json
import os
import socket
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosgate.cli.completion import complete_runs, complete_steps
from chaosgate.cli.options import output_option, place_options, state_option
from chaosgate.cli.runs import find_run
from chaosgate.errors import UsageError

if TYPE_CHECKING:
    from chaosgate.run.logs import Logs
    from chaosgate.run.status import RunLine

MAX_REASON = 500
"""Characters of a reason: it is one line of a verdict."""


@click.command()
@click.argument("run_id", metavar="[RUN]", required=False, shell_complete=complete_runs)
@place_options
@state_option
@output_option
def status(run_id: str | None, on: str | None, namespace: str | None, state: Path, output: str) -> None:
    """Show how a run stands; without RUN every run, the newest first.

    Without --on argo the list holds the runs that were started or followed from here.
    """
    from chaosgate.cli.status_text import print_runs, print_status
    from chaosgate.cli.there import find_there
    from chaosgate.run.status import list_runs, read_status

    if run_id is None:
        here = on is None and namespace is None
        lines = list_runs(state) if here else _list_there(state, namespace)
        if output == "json":
            click.echo(json.dumps([line.to_json() for line in lines], indent=2))
        else:
            print_runs(lines, state)
        return
    there = find_there(state, run_id, on, namespace)
    if there is not None:
        from chaosgate.cli.argo_status import status_there

        found = status_there(there)
    else:
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
@place_options
@state_option
def logs(
    run_id: str, step: str | None, follow: bool, tail: int | None, on: str | None, namespace: str | None, state: Path
) -> None:
    """Print what the steps and servers of a run logged; STEP is one of them, such as block1-measure or gateway.

    Of a run on a cluster: what its pods logged while they are there, else what is kept here of it.
    """
    from chaosgate.cli.log_lines import LogPrinter
    from chaosgate.registry import unknown

    found, steps = _logs(run_id, on, namespace, state)
    known = dict.fromkeys((*found.names(), *steps))
    if step is not None and step not in known:
        raise UsageError(f"{run_id}: {unknown('step or server', step, known)}")
    LogPrinter(found, step, max(map(len, known), default=0)).print_all(tail, follow=follow)


def _logs(run_id: str, on: str | None, namespace: str | None, state: Path) -> tuple[Logs, Iterable[str]]:
    """The logs of the run, and its steps."""
    from chaosgate.cli.there import find_there
    from chaosgate.run.logs import FolderLogs, step_names

    there = find_there(state, run_id, on, namespace)
    if there is not None:
        from chaosgate.cli.argo_status import PodLogs

        pods = PodLogs(there)
        return pods, pods.steps()
    folder = find_run(state, run_id)
    return FolderLogs(folder, run_id), step_names(folder)


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_runs)
@click.option("--reason", default="", metavar="TEXT", help="Why; it stands in the verdict, the record and the report.")
@place_options
@state_option
@output_option
def abort(run_id: str, reason: str, on: str | None, namespace: str | None, state: Path, output: str) -> None:
    """End a run now: every fault goes off at once, its steps end, and it is cleaned up and sealed.

    The verdict of an aborted run is `error`, and its own exit code 143. Where its runner is gone, this command cleans
    up itself. Exit code: 0 when the run is over and nothing is left, also when it was over before; 4 when that is not
    proved.
    """
    from chaosgate.cli.status_text import abort_lines
    from chaosgate.cli.there import find_there
    from chaosgate.components.aborting import NO_REASON, Abort
    from chaosgate.run.abort import abort_run

    if len(reason) > MAX_REASON:
        raise UsageError(f"--reason: has {len(reason)} characters; at most {MAX_REASON} are allowed")
    there = find_there(state, run_id, on, namespace)
    if there is None:
        find_run(state, run_id)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    asked = Abort(by=_who(), reason=reason.strip() or NO_REASON, at=now)
    # A reader that leaves must not end the abort half way.
    say = _patient(lambda line: click.echo(line, err=output == "json"))
    if there is not None:
        from chaosgate.cli import argo_end

        ended = argo_end.abort(there, asked, say)
    else:
        ended = abort_run(state, run_id, asked, say)
    if output == "json":
        _patient(click.echo)(json.dumps(ended.to_json(), indent=2))
    else:
        for line in abort_lines(ended):
            say(line)
    raise click.exceptions.Exit(ended.exit_code)


def _list_there(state: Path, namespace: str | None) -> Sequence[RunLine]:
    """Every run that a namespace of the cluster still knows."""
    from chaosgate.cli.argo_status import list_there
    from chaosgate.cluster.api import open_cluster

    return list_there(open_cluster(namespace), state)


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
