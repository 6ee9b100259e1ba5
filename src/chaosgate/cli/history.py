"""Commands that know the runs before a run: answer for it at a gate, and show what became of a spec's numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaosgate.cli.completion import complete_runs
from chaosgate.cli.options import output_option, state_option
from chaosgate.cli.reports import RUN_HELP, locate
from chaosgate.cli.writing import write_file
from chaosgate.errors import ArtifactError

if TYPE_CHECKING:
    from chaosgate.report.view import ReportView


def source_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--from local|mlflow`."""
    return click.option(
        "--from",
        "source",
        type=click.Choice(["local", "mlflow"]),
        default="local",
        show_default=True,
        help="Where the earlier runs are: the state directory, or the spec's MLflow experiment.",
    )(command)


@click.command(epilog=RUN_HELP)
@click.argument("run", metavar="RUN", shell_complete=complete_runs)
@click.option("--last", type=click.IntRange(3, 100), help="Compare with so many accepted runs at most.")
@source_option
@state_option
@output_option
def gate(run: str, last: int | None, source: str, state: Path, output: str) -> None:
    """Answer for a finished run, by its own verdict and beside its history; the exit code is the answer's.

    The history are the last runs of the same spec that passed and are sealed clean; `gate.history` of the spec says how
    many, which verdicts count, and what may change by how much.
    """
    from chaosgate.model.history import GateHistory
    from chaosgate.report.history import beside_history, history_json

    view, past = read_with_past(run, source, state)
    require_readable(view)
    rules = view.spec.spec.gate.history or GateHistory()
    found = beside_history(view, past, rules if last is None else rules.model_copy(update={"last": last}))
    if output == "json":
        click.echo(history_json(found), nl=False)
    else:
        from chaosgate.cli.history_text import print_history

        print_history(found)
    raise click.exceptions.Exit(found.exit_code)


@click.command(epilog=RUN_HELP)
@click.argument("run", metavar="RUN", shell_complete=complete_runs)
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the thresholds as SVG.")
@source_option
@state_option
@output_option
def history(run: str, plot: Path | None, source: str, state: Path, output: str) -> None:
    """Show the thresholds of every sealed run of the spec of RUN, and whether one drifts over the versions tested."""
    from chaosgate.report.drift import drifts

    view, past = read_with_past(run, source, state)
    views = [view, *(each for each in past if each.run != view.run)]
    found = drifts(views)
    if plot is not None:
        from chaosgate.report.plots.drift import drift_page

        write_file(plot, drift_page(found), "--plot")
    if output == "json":
        click.echo(json.dumps([each.to_json() for each in found], indent=2, allow_nan=False))
    else:
        from chaosgate.cli.history_text import print_drifts

        print_drifts(views, found)


def require_readable(view: ReportView) -> None:
    """An ArtifactError where a run that passed has lost its numbers: none of them can be held against a history."""
    if view.verdict.verdict in ("pass", "warn") and view.estimates is None:
        raise ArtifactError(
            f"{view.run}: its verdict is {view.verdict.verdict}, but its estimates cannot be read, so nothing can be "
            f"held against its history; see: chaosgate report {view.run} -o markdown"
        )


def read_with_past(run: str, source: str, state: Path) -> tuple[ReportView, list[ReportView]]:
    """The run and every run of its spec that its state directory, or MLflow, holds."""
    from chaosgate.components.past_runs import local_runs, tracked_runs
    from chaosgate.components.reading import read_results

    name, folder = locate(run, state)
    view = read_results(name, folder)
    past = local_runs(state, view.spec) if source == "local" else tracked_runs(name, view.spec, state)
    return view, past
