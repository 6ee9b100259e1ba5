"""What a person reads at the end of a run: objectives, threshold, verdict with its reasons, and where the rest is."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from chaosgate.artifacts import ESTIMATES, FIT, RECORDING, REPORT, STATUS, Artifact, Identity, read_if_there
from chaosgate.cli.console import make_console, print_hanging
from chaosgate.components.aborting import read_abort
from chaosgate.components.places import step_file
from chaosgate.model.base import Frozen
from chaosgate.model.plan import CONCLUDE
from chaosgate.model.result import FitResult, Verdict, VerdictName
from chaosgate.model.spec import ChaosSpec
from chaosgate.report.table import format_interval, objective_rows
from chaosgate.run.outcome import Outcome
from chaosgate.tracking.location import tracking_uri, ui_command
from chaosgate.units import format_value

Model = TypeVar("Model", bound=Frozen)

COLOURS: dict[VerdictName, str] = {
    "pass": "green",
    "warn": "yellow",
    "fail": "red",
    "inconclusive": "magenta",
    "error": "red",
}


def print_outcome(spec: ChaosSpec, outcome: Outcome, state: Path, console: Console | None = None) -> None:
    """The whole summary, on standard output."""
    console = console or make_console()
    if outcome.verdict is not None:
        print_table(spec, outcome, outcome.verdict, console)
        print_verdict(outcome.verdict, console)
    else:
        console.print(f"verdict: error: {why_no_verdict(outcome)}", markup=False)
    for problem in outcome.problems:
        console.print(f"problem: {problem}", markup=False)
    if outcome.missing is not None:
        console.print(f"missing: not all files of the run are here: {outcome.missing}", markup=False)
    print_cleanup(outcome, console)
    print_places(spec, outcome, state, console)


def why_no_verdict(outcome: Outcome) -> str:
    """Why conclude left none: its own words where it has any."""
    abort = read_abort(outcome.folder)
    if abort is not None:
        return f"{abort.sentence()}; whoever aborted it has the verdict, and MLflow"
    if outcome.signal is not None:
        return f"interrupted by {signal.Signals(outcome.signal).name} before there was a verdict"
    status = read(outcome, STATUS)
    why = status.reason if status else None
    return f"no verdict was written: {why or 'conclude did not run'}; logs: {outcome.folder / 'logs'}"


def print_table(spec: ChaosSpec, outcome: Outcome, verdict: Verdict, console: Console) -> None:
    """Baseline, dose and recovery of each objective, then the thresholds."""
    fits = read(outcome, FIT)
    estimates = read(outcome, ESTIMATES)
    table = Table(title=None, box=None, pad_edge=False, header_style="bold")
    for heading in ("objective", "SLI", "baseline", "at dose", "recovery", "bound", "verdict"):
        table.add_column(heading, overflow="fold")
    for row in objective_rows(spec, verdict, estimates, fits):
        cells = (row.objective, f"{row.sli} {row.at}", str(row.baseline), str(row.dose), str(row.recovery), row.bound)
        table.add_row(*(Text(cell) for cell in cells), coloured(row.verdict))
    console.print(table)
    for fit in fits.fits if fits else ():
        console.print(threshold_text(fit), markup=False)


def threshold_text(fit: FitResult) -> str:
    """`threshold knee: 271ms, 95 % interval [262ms, 280ms]`, or why there is none."""
    found = fit.threshold
    interval = format_interval(found.lower, found.upper, fit.dimension)
    match found.outcome:
        case "fitted":
            return f"threshold {fit.name}: {format_value(found.value, fit.dimension)}, 95 % interval {interval}"
        case "bracketed":
            ends = (format_value(end, fit.dimension) for end in (found.lower, found.upper))
            return f"threshold {fit.name}: between {' and '.join(ends)}; no dose between them was tried"
        case "refused":
            return f"threshold {fit.name}: none: {found.reason}"


def print_verdict(verdict: Verdict, console: Console) -> None:
    """The verdict and each reason."""
    console.print(Text("verdict: ").append(coloured(verdict.verdict)))
    for reason in verdict.reasons:
        print_hanging(console, Text("  ").append(coloured(reason.verdict)).append("  "), Text(reason.text))


def print_cleanup(outcome: Outcome, console: Console) -> None:
    """Whether everything is gone."""
    if outcome.cleanup is None:
        console.print(f"cleanup: unproved; run: chaosgate cleanup {outcome.run}", markup=False)
    elif not outcome.cleanup.clean:
        left = "; ".join(outcome.cleanup.left)
        console.print(f"cleanup: left behind: {left}; run: chaosgate cleanup {outcome.run}", markup=False)
    else:
        console.print("cleanup: clean, nothing left behind", markup=False)


def print_places(spec: ChaosSpec, outcome: Outcome, state: Path, console: Console) -> None:
    """Report, files and MLflow."""
    report = step_file(outcome.folder, CONCLUDE, REPORT.file)
    if report.exists():
        console.print(f"report:  {report}", markup=False)
    console.print(f"files:   {outcome.folder}", markup=False)
    recording = read(outcome, RECORDING)
    if recording is not None and recording.mlflow_run is not None:
        console.print(f"MLflow:  {ui_command(tracking_uri(spec, state))}", markup=False)
    else:
        why = recording.reason if recording else f"not that far; run: chaosgate record {outcome.run}"
        console.print(f"MLflow:  unrecorded: {why}", markup=False)


def coloured(verdict: VerdictName | None) -> Text:
    """The word in its colour; the word alone carries the meaning."""
    return Text("-") if verdict is None else Text(verdict, style=f"bold {COLOURS[verdict]}")


def read(outcome: Outcome, artifact: Artifact[Model]) -> Model | None:
    """A document of the conclusion, None when it cannot be read."""
    return read_if_there(step_file(outcome.folder, CONCLUDE, artifact.file), artifact, Identity(outcome.run, None))


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome for machines."""
    return {
        "run": outcome.run,
        "folder": str(outcome.folder),
        "exitCode": outcome.exit_code,
        "problems": list(outcome.problems),
        "missing": outcome.missing,
        "verdict": outcome.verdict.to_json() if outcome.verdict else None,
        "cleanup": outcome.cleanup.to_json() if outcome.cleanup else None,
    }
