"""The comparison of two runs for people: what they are, what changed around them, and a table, the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from chaosgate.cli.console import make_console, print_hanging
from chaosgate.cli.summary import coloured
from chaosgate.report.changes import Change
from chaosgate.report.comparison import ANSWERS, Answer, Compared, ComparedRun, Comparison, Interval
from chaosgate.report.numbers import Number
from chaosgate.report.table import MISSING, format_interval
from chaosgate.units import Dimension, format_value

COLOURS: dict[Answer, str] = {
    "worse": "red",
    "not enough data": "magenta",
    "no difference shown": "default",
    "better": "green",
}
DIGEST = len("sha256:") + 12
CHANGES = 12
"""The most changes that are listed of one thing."""
LEGEND = (
    "Brackets are 95 % intervals; B is worse or better where the interval of the difference leaves out 0. "
    "pp: percentage points."
)
ROOM = 100
"""Columns from which on the numbers of a row have room beside its name."""


def print_comparison(found: Comparison, console: Console | None = None) -> None:
    """All of it, on standard output."""
    console = console or make_console()
    for letter, run in (("A", found.a), ("B", found.b)):
        console.print(_run_line(letter, run))
    for what, changes in (("spec", found.spec), ("subject", found.subject), ("environment", found.environment)):
        for line in _change_lines(changes):
            print_hanging(console, Text(f"{what}: "), Text(line))
    console.print(_table(found, console.width))
    print_hanging(console, Text(), Text(_count(found)))


def _run_line(letter: str, run: ComparedRun) -> Text:
    line = Text(f"{letter}: {run.run}  ").append(coloured(run.verdict))
    model = f"  {run.subject.model}" if run.subject else "  unknown subject"
    return line.append(model).append("" if run.sealed_clean else "  not sealed clean")


def _change_lines(changes: tuple[Change, ...]) -> Iterator[str]:
    if not changes:
        yield "the same"
    for change in changes[:CHANGES]:
        yield f"{change.what}: {_short(change.a)} -> {_short(change.b)}"
    if len(changes) > CHANGES:
        yield f"{len(changes) - CHANGES} more; -o json has them all"


def _short(value: str | None) -> str:
    """A digest by its first twelve digits, everything else as it is."""
    return MISSING if value is None else value[:DIGEST] if value.startswith("sha256:") else value


def _table(found: Comparison, width: int) -> Table:
    """Two lines a row: numbers above, intervals below; names fold first, numbers only where there is no room at all."""
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("what", overflow="fold")
    for heading in ("A", "B", "B - A", ""):
        table.add_column(heading, overflow="fold", no_wrap=width >= ROOM)
    for row in found.rows:
        if row.in_both:
            table.add_row(_what(row), _number(row.a, row), _number(row.b, row), _difference(row), _answer(row))
    return table


def _what(row: Compared) -> Text:
    of = f" of {row.fault}" if row.fault else ""
    kind = "SLI" if row.kind == "sli" else row.kind
    at = f"{row.sli} at {row.at}" if row.kind == "objective" else "dose" if row.kind == "threshold" else row.at
    return Text(f"{kind} {row.name}\n").append(f"{at}{of}", style="dim")


def _number(number: Number | None, row: Compared) -> Text:
    if number is None:
        return Text(MISSING)
    value = "beyond any" if number.unbounded else format_value(number.value, row.dimension)
    interval = format_interval(number.lower, number.upper, row.dimension)
    return Text(f"{value}\n").append(interval, style="dim")


def _difference(row: Compared) -> Text:
    value = signed(row.difference.value, row.dimension)
    return Text(f"{value}\n").append(signed_interval(row.difference, row.dimension), style="dim")


def signed(value: float | None, dimension: Dimension) -> str:
    """`+12ms`; shares differ by percentage points, `-3 pp`; `-` where there is no number."""
    text = format_value(value, dimension)
    text = text.replace("%", "pp") if dimension == "share" else text
    return f"+{text}" if value is not None and value > 0 else text


def signed_interval(interval: Interval, dimension: Dimension) -> str:
    """`[-3ms, +5ms]`; an open end reads `-inf` or `inf`."""
    if interval.lower is None and interval.upper is None:
        return ""
    lower = "(-inf" if interval.lower is None else f"[{signed(interval.lower, dimension)}"
    upper = "inf)" if interval.upper is None else f"{signed(interval.upper, dimension)}]"
    return f"{lower}, {upper}"


def _answer(row: Compared) -> Text:
    text = Text(row.answer, style=COLOURS[row.answer])
    verdicts = [number.verdict if number else None for number in (row.a, row.b)]
    if any(verdicts):
        text.append("\n").append(coloured(verdicts[0])).append(" -> ").append(coloured(verdicts[1]))
    return text


def _count(found: Comparison) -> str:
    """How many rows have which answer, and what an answer rests on."""
    counts = Counter(row.answer for row in found.rows if row.in_both)
    said = [f"{counts[answer]} {answer}" for answer in ANSWERS if counts[answer]]
    alone = len(found.rows) - counts.total()
    said += [f"{alone} in one run only, left out here"] if alone else []
    return f"{', '.join(said) or 'nothing to compare'}. {LEGEND}"
