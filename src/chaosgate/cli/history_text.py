"""A run beside its history, and the drift of thresholds, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from chaosgate.cli.comparison import signed
from chaosgate.cli.console import make_console, print_hanging
from chaosgate.cli.summary import coloured
from chaosgate.report.drift import ThresholdDrift, ThresholdPoint
from chaosgate.report.history import AgainstHistory, RunHistory
from chaosgate.report.table import MISSING, format_interval
from chaosgate.report.view import ReportView
from chaosgate.units import format_value

LEGEND = "Brackets after a value are 95 % intervals; the band is where 95 % of further runs would lie."


def print_history(found: RunHistory, console: Console | None = None) -> None:
    """The history, a line an objective, and the answer, on standard output."""
    console = console or make_console()
    runs = ", ".join(past.run for past in found.history)
    print_hanging(console, Text(f"history: {len(found.history)} accepted runs  "), Text(runs or "none yet", "dim"))
    console.print(_table(found.rows))
    if any(row.band for row in found.rows):
        print_hanging(console, Text(), Text(LEGEND, "dim"))
    console.print(Text("own verdict: ").append(coloured(found.own)).append(_seal(found)))
    console.print(Text("gate: ").append(coloured(found.verdict)))


def _seal(found: RunHistory) -> str:
    return "" if found.sealed_clean else f"  not sealed clean; run: chaosgate cleanup {found.run}"


def _table(rows: Sequence[AgainstHistory]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("objective", "at", "this run", "mean", "band or bound", "change", "verdict", "why"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        value = f"{format_value(row.value, row.dimension)} {format_interval(row.lower, row.upper, row.dimension)}"
        verdict = Text(MISSING) if row.verdict is None else coloured(row.verdict)
        table.add_row(
            *map(
                Text, (row.objective, row.at, value, format_value(row.mean, row.dimension), _against(row), _change(row))
            ),
            verdict,
            Text(row.text),
        )
    return table


def _against(row: AgainstHistory) -> str:
    if row.bound is not None:
        return row.bound
    return MISSING if row.band is None else format_interval(*row.band, row.dimension)


def _change(row: AgainstHistory) -> str:
    """The relative change with its interval, in per cent."""
    if row.change is None:
        return MISSING
    ends = ("?" if end is None else f"{end:+.1%}" for end in (row.change_lower, row.change_upper))
    return f"{row.change:+.1%} ({' to '.join(ends)})"


def print_drifts(views: Sequence[ReportView], found: Sequence[ThresholdDrift], console: Console | None = None) -> None:
    """A table a fit, with what its trend shows."""
    console = console or make_console()
    sealed = sum(view.sealed_clean for view in views)
    console.print(Text(f"{sealed} of {len(views)} runs of the spec are sealed clean"))
    if not found and sealed:
        console.print(Text("the spec has no fit, so there is no threshold that could drift"))
    for each in found:
        console.print(_drift_table(each))
        print_hanging(console, Text(f"{each.fit}: "), Text(each.text))
        if each.slope is not None:
            console.print(Text(f"slope {signed(each.slope, each.dimension)} a version", "dim"))


def _drift_table(found: ThresholdDrift) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title=f"threshold {found.fit} of {found.fault}")
    for heading in ("began", "run", "version", "threshold", "95 % interval"):
        table.add_column(heading, overflow="fold")
    for point in found.points:
        cells = (point.started, point.run, point.version, _threshold(point, found), _interval(point, found))
        table.add_row(*map(Text, cells))
    return table


def _threshold(point: ThresholdPoint, found: ThresholdDrift) -> str:
    return point.outcome if point.value is None else format_value(point.value, found.dimension)


def _interval(point: ThresholdPoint, found: ThresholdDrift) -> str:
    return format_interval(point.lower, point.upper, found.dimension) or MISSING
