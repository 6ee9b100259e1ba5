"""Commands that read finished runs: report one, compare two. Both may be repeated and change nothing of a run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosgate.cli.completion import complete_runs
from chaosgate.cli.options import output_option, state_option
from chaosgate.cli.writing import write_file
from chaosgate.errors import ArtifactError, UsageError

if TYPE_CHECKING:
    from chaosgate.report.view import ReportView

FORMATS = ("html", "markdown", "junit", "json")
RUN_HELP = "RUN is a run's id, or a path (with a /) to its folder."


@click.command(epilog=RUN_HELP)
@click.argument("run", metavar="RUN", shell_complete=complete_runs)
@click.option(
    "-o",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="html",
    show_default=True,
    help="A page for people, Markdown for a job summary, JUnit XML, or JSON (schemas/run-report.v1.json).",
)
@click.option(
    "-O",
    "--output",
    "file",
    type=click.Path(path_type=Path),
    default="-",
    help="The file to write.  [default: stdout]",
)
@state_option
def report(run: str, form: str, file: Path, state: Path) -> None:
    """Write the report of a run from its files, however early it ended.

    The exit code says whether it was written, not how the run went.
    """
    from chaosgate.components.reading import read_view

    name, folder = locate(run, state)
    text = renderer(form)(read_view(name, folder))
    if str(file) == "-":
        click.echo(text, nl=False)
    else:
        write_file(file, text, "--output")


def renderer(form: str) -> Callable[[ReportView], str]:
    """What writes a report in a format; only this one is imported."""
    match form:
        case "markdown":
            from chaosgate.report.markdown import render_markdown

            return render_markdown
        case "junit":
            from chaosgate.report.junit import render_junit

            return render_junit
        case "json":
            from chaosgate.report.machine import render_json

            return render_json
        case _:
            from chaosgate.report.render import render_report

            return render_report


@click.command(epilog=RUN_HELP)
@click.argument("first", metavar="RUN_A", shell_complete=complete_runs)
@click.argument("second", metavar="RUN_B", shell_complete=complete_runs)
@click.option(
    "--any", "whatever", is_flag=True, help="Also runs of different specs, and runs that are not sealed clean."
)
@state_option
@output_option
def compare(first: str, second: str, whatever: bool, state: Path, output: str) -> None:
    """Compare RUN_B with RUN_A: each number of both, the difference with a 95 % interval, the worst first."""
    from chaosgate.report import comparison

    views = read_estimated(first, state), read_estimated(second, state)
    if not whatever:
        require_alike(*views)
    found = comparison.compare(*views)
    if output == "json":
        click.echo(comparison.comparison_json(found), nl=False)
    else:
        from chaosgate.cli.comparison import print_comparison

        print_comparison(found)


def locate(run: str, state: Path) -> tuple[str, Path]:
    """The id and the folder of a run that is named by its id or by a path; a UsageError for what is neither."""
    from chaosgate.cli.runs import find_run
    from chaosgate.components.reading import run_of
    from chaosgate.model.base import NAME_PATTERN

    if re.fullmatch(NAME_PATTERN, run):
        return run, find_run(state, run)
    return run_of(Path(run)), Path(run)


def read_estimated(run: str, state: Path) -> ReportView:
    """The results of a run; an ArtifactError when there are no estimates to compare."""
    from chaosgate.components.reading import read_results

    name, folder = locate(run, state)
    view = read_results(name, folder)
    if view.estimates is None:
        raise ArtifactError(
            f"{name}: has no estimates that can be read, its verdict is {view.verdict.verdict}; "
            f"only runs that were measured to their end are compared; see: chaosgate report {run} -o markdown"
        )
    return view


def require_alike(first: ReportView, second: ReportView) -> None:
    """An error unless both ran one spec and both are sealed clean: what was left behind may have changed a number."""
    from chaosgate.report.advice import cleanup_sentence
    from chaosgate.report.changes import parts_of, spec_changes

    changes = spec_changes(first.spec, second.spec)
    if changes:
        raise UsageError(
            f"{first.run} and {second.run} ran different specs; what differs: {', '.join(parts_of(changes))}; "
            "compare runs of one spec, or give --any to see each difference and to compare what both have"
        )
    for view in (first, second):
        if not view.sealed_clean:
            raise ArtifactError(
                f"{view.run}: is not sealed clean ({cleanup_sentence(view)}); "
                f"run: chaosgate cleanup {view.run}; or give --any to compare it all the same"
            )
