"""How runs stand, as text for people. Where the data comes from makes no difference here."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from chaosgate.cli.console import make_console, print_hanging
from chaosgate.cli.live import load_text, window_text
from chaosgate.cli.summary import coloured
from chaosgate.errors import one_line
from chaosgate.model.result import Cleanup
from chaosgate.run.abort import Aborted
from chaosgate.run.status import RunLine, RunState, RunStatus, StepState, StepView

STYLES: dict[RunState | StepState, str] = {
    "running": "bold cyan",
    "finished": "green",
    "ok": "green",
    "interrupted": "yellow",
    "declined": "yellow",
    "unsealed": "bold red",
    "failed": "bold red",
    "lost": "bold red",
}
UNITS = (("d", 86400), ("h", 3600), ("m", 60))


def print_runs(lines: Sequence[RunLine], state: Path, console: Console | None = None, now: float | None = None) -> None:
    """One line a run."""
    console = console or make_console()
    if not lines:
        console.print(f"{state}: no runs; start one: chaosgate run SPEC", markup=False)
        return
    now = time.time() if now is None else now
    table = Table("run", "spec", "state", "verdict", "age", "exit code", box=None, pad_edge=False, header_style="bold")
    for line in lines:
        code = "-" if line.exit_code is None else str(line.exit_code)
        age = age_text(now - line.started)
        table.add_row(line.run, Text(line.spec or "-"), _state(line.state), coloured(line.verdict), age, code)
    console.print(table)


def print_status(status: RunStatus, console: Console | None = None, now: float | None = None) -> None:
    """One run: what it is at, its steps, its processes, its verdict and seal, and what comes next."""
    console = console or make_console()
    now = time.time() if now is None else now
    line = status.line
    for label, text in (
        ("run", Text(line.run)),
        ("spec", Text(line.spec or "-")),
        ("state", _state(line.state).append(f", started {age_text(now - line.started)} ago", style="")),
        ("verdict", _verdict(status)),
        ("seal", Text(seal_text(status))),
        *_carriers(status),
    ):
        _labelled(console, label, text)
    if status.abort is not None:
        _labelled(console, "aborted", Text(f"by {status.abort.by}: {status.abort.reason} ({status.abort.at})"))
    if status.report is not None:
        _labelled(console, "report", Text(status.report))
    for problem in status.problems:
        _labelled(console, "problem", Text(problem))
    _print_steps(status.steps, console)
    for following in next_steps(status):
        _labelled(console, "next", Text(following))


def _carriers(status: RunStatus) -> Iterator[tuple[str, Text]]:
    """What carries the run: processes of this machine, or pods of a cluster."""
    if status.cluster is None:
        yield "processes", Text(_processes(status))
    else:
        yield "cluster", Text(status.cluster)
        yield "pods", Text(", ".join(status.pods) or "none running")


def _labelled(console: Console, label: str, text: Text) -> None:
    print_hanging(console, Text(f"{label:<11}"), text)


def _print_steps(steps: Sequence[StepView], console: Console) -> None:
    if not steps:
        return
    table = Table("step", "state", "time", "", box=None, pad_edge=False, header_style="bold")
    for step in steps:
        seconds = "" if step.seconds is None else age_text(step.seconds)
        table.add_row(Text(one_line(step.step)), _state(step.state), seconds, Text(step_text(step)))
    console.print()
    console.print(table)
    console.print()


def step_text(step: StepView) -> str:
    """What a step does now or how it ended: live numbers, window, exit code, reason."""
    parts = []
    if step.state == "running" and step.load is not None:
        parts.append(load_text(dict(step.load)))
    if step.state == "running" and step.recovering:
        parts.append(window_text({"event": "recovery"}))
    elif step.state == "running" and step.sweep is not None:
        parts.append(window_text({"event": "window", **dict(step.sweep)}))
    if step.exit_code and step.reason is None:
        parts.append(f"exit code {step.exit_code}")
    return "  ".join((*parts, step.reason or "")).strip()


def next_steps(status: RunStatus) -> Iterator[str]:
    """What to do next, as commands where there are any."""
    run = f"{status.line.run} {status.reached_by}".strip()
    if status.cluster is not None and status.line.state != "unsealed" and status.report is None:
        # Its files are not here yet.
        yield f"chaosgate attach {run}"
    match status.line.state:
        case "running":
            yield f"chaosgate logs {run} --follow"
            yield f"chaosgate abort {run} --reason TEXT"
        case "elsewhere" if status.cluster is None:
            yield "ask on the machine it belongs to; nothing can be said of its processes from here"
        case "unsealed":
            yield f"chaosgate cleanup {run}"
        case "interrupted" | "finished":
            recorded = status.recording is not None and status.recording.mlflow_run is not None
            if not recorded and (status.cluster is None or status.report is not None):
                yield f"chaosgate record {run}"
            if status.line.state == "interrupted":
                yield "run the spec again: this run says nothing about its subject"


def seal_text(status: RunStatus) -> str:
    """Whether it is proved that nothing is left."""
    if status.seal is None:
        return "not yet" if status.line.state == "running" else "none: it is not proved that nothing is left"
    if status.seal_holds:
        return "clean, nothing left behind"
    left = "; ".join(status.seal.left)
    return f"left behind: {left}" if left else "no longer holds: the record is not the one that was sealed"


def _verdict(status: RunStatus) -> Text:
    if status.verdict is None:
        return Text("not yet" if status.line.state == "running" else "none")
    reasons = "; ".join(reason.text for reason in status.verdict.reasons if reason.verdict != "pass")
    return coloured(status.verdict.verdict).append(f": {reasons}" if reasons else "", style="")


def _processes(status: RunStatus) -> str:
    alive = [f"{one_line(process.role)} ({process.pid})" for process in status.processes]
    return ", ".join(alive) or "none alive"


def _state(state: RunState | StepState) -> Text:
    return Text(state, style=STYLES.get(state, ""))


def age_text(seconds: float) -> str:
    """`12.3s` below a minute, then `5m 3s`, `2h 5m`, `3d 4h`."""
    if seconds < 60:
        return f"{max(seconds, 0):.1f}s"
    for (unit, size), (smaller, part) in zip(UNITS, (*UNITS[1:], ("s", 1)), strict=True):
        if seconds >= size:
            return f"{int(seconds // size)}{unit} {int(seconds % size // part)}{smaller}"
    raise AssertionError("unreachable: a minute or more has one of these units")


def abort_lines(ended: Aborted) -> Iterator[str]:
    """How an abort ended, and what to do where it is not over."""
    verdict = "none"
    if ended.verdict is not None:
        reasons = [reason.text for reason in ended.verdict.reasons if reason.verdict != "pass"]
        verdict = ": ".join(filter(None, (ended.verdict.verdict, "; ".join(reasons))))
    if ended.abort is None:
        yield f"{ended.run} was over before, there is nothing to abort"
    yield f"verdict: {verdict}"
    yield f"cleanup: {_cleanup(ended.run, ended.seal)}"


def _cleanup(run: str, seal: Cleanup | None) -> str:
    if seal is None:
        return f"not proved yet; look: chaosgate status {run}; then: chaosgate abort {run}"
    if not seal.clean:
        return f"left behind: {'; '.join(seal.left)}; run: chaosgate cleanup {run}"
    return "clean, nothing left behind"
