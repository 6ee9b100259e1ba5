"""The report of a load for people: a table of latencies, histograms, rates, errors, and what was wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from chaosgate.cli.load_fits import critical_words, peak_words
from chaosgate.cli.load_histogram import bars
from chaosgate.cli.load_report import ErrorKind, LoadReport, StepReport
from chaosgate.cli.load_slo import slo_words
from chaosgate.cli.load_view import outcome_text
from chaosgate.loadgen.summary import Distribution, Summary
from chaosgate.units import format_rate, format_value

COLUMNS = ("mean", "p50", "p90", "p95", "p99", "max")
DEFINITIONS = {
    "ttft": "due to first content token",
    "first-text": "due to first text, reasoning too",
    "itl": "between events with tokens",
    "tpot": "mean time per token after the first",
    "e2e": "due to end",
    "normalised-latency": "e2e per output token",
}
SHOWN_ERRORS = 8
MIN_STEPS = 4
"""Steps that a law needs; of a shorter sweep it is no news that nothing was fitted."""
WORD = {"kept": "green", "missed": "bold red", "unclear": "yellow"}


def report_text(report: LoadReport) -> RenderableType:
    """All of it, an empty line between its parts."""
    pieces = [piece for part in _parts(report) for piece in (part, "")]
    return Group(*pieces[:-1])


def _parts(report: LoadReport) -> Iterator[RenderableType]:
    if report.summary is not None:
        yield totals(report, report.summary)
        yield latencies(report.summary)
        for name, bins in report.histograms.items():
            if bins:
                yield Text("\n").join(
                    [Text(f"{name}, {sum(one.count for one in bins)} values", "bold"), *map(Text, bars(bins))]
                )
    if report.steps:
        yield step_table(report.steps)
        yield Text("\n").join(Text(line) for line in (_highest(report), *_thresholds(report)))
    if report.errors:
        yield error_table(report.errors)
    if report.slos:
        yield Text("\n").join(Text(slo_words(slo), style=WORD[slo.verdict]) for slo in report.slos)
    if report.ended != "planned":
        why = f": {report.why_ended}" if report.why_ended else ""
        yield Text(f"{report.ended}{why}; these are the numbers up to then", style="yellow")
    if report.invalid is not None:
        yield Text(f"INVALID: {report.invalid}", style="bold red")


def totals(report: LoadReport, summary: Summary) -> Table:
    """Counts and rates."""
    delay = summary.schedule_delay
    delays = ", ".join(f"{name} {format_value(getattr(delay, name), 'duration')}" for name in ("p50", "p90", "p99"))
    warmup = f", after {format_value(report.warmup, 'duration')} of warm-up" if report.warmup else ""
    rows: list[tuple[str, RenderableType]] = [
        (
            "requests",
            Text.assemble(
                f"{summary.requests} in {format_value(summary.seconds, 'duration')}{warmup}: ",
                outcome_text(summary.outcomes),
            ),
        ),
        ("sent", f"{_rate(summary.achieved_rate)} of {_rate(summary.requested_rate)} asked for"),
        ("schedule delay", f"{delays}: how late the client sent"),
        ("answered", "  ".join(f"{name} {_rate(rate)}" for name, rate in summary.rates.items())),
        ("in flight", f"{summary.concurrency:.1f} on average"),
        (
            "tokens",
            f"{summary.output_tokens} out" + ("" if summary.prompt_tokens is None else f", {summary.prompt_tokens} in"),
        ),
    ]
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value in rows:
        table.add_row(Text(name, style="bold"), value)
    return table


def _rate(value: float) -> str:
    return f"{value:.4g}/s"


def latencies(summary: Summary) -> Table:
    """A row a metric, with what it measures."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("latency", no_wrap=True)
    for name in ("n", *COLUMNS):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("measures", style="dim")
    for name, values in summary.latencies.items():
        table.add_row(name, *_cells(values), DEFINITIONS.get(name, ""))
    table.add_row("service-time", *_cells(summary.service_times), "sent to end, which hides a client's delay")
    return table


def _cells(values: Distribution) -> list[str]:
    return [str(values.n), *(format_value(getattr(values, name), values.dimension) for name in COLUMNS)]


def step_table(steps: Sequence[StepReport]) -> Table:
    """A row a step of a sweep."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("rate", "requests", "errors", "ttft p50", "ttft p95", "e2e p95", "tokens"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("outcome", overflow="fold")
    for step in steps:
        table.add_row(*_step_cells(step), Text(f"{step.end}: {step.why}", style="" if step.end == "held" else "yellow"))
    return table


def _step_cells(step: StepReport) -> list[str]:
    summary = step.summary
    if summary is None:
        return [format_rate(step.rate), "0", *["-"] * 5]
    ttft, whole = summary.latencies["ttft"], summary.latencies["e2e"]
    values = [format_value(value, "duration") for value in (ttft.p50, ttft.p95, whole.p95)]
    errors = format_value(summary.error_rate, "share")
    return [format_rate(step.rate), str(summary.requests), errors, *values, _rate(summary.rates["tokens-per-second"])]


def _highest(report: LoadReport) -> str:
    if report.highest_held is None:
        return "no rate was held: begin lower"
    last = report.steps[-1]
    more = ", and maybe more: it was the last step" if last.end == "held" else ""
    return f"highest rate held: {format_rate(report.highest_held)}{more}"


def _thresholds(report: LoadReport) -> Iterator[str]:
    """What was fitted, and of a sweep with steps enough why something was not."""
    for found, words in ((report.peak, peak_words), (report.critical, critical_words)):
        if found is not None and (found.outcome != "refused" or len(report.steps) >= MIN_STEPS):
            yield words(found)


def error_table(errors: Sequence[ErrorKind]) -> Table:
    """What failed, how often, and an example to look for in the server's log."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("failed", justify="right", no_wrap=True)
    for name in ("outcome", "example"):
        table.add_column(name, no_wrap=True)
    table.add_column("what was said", overflow="fold")
    for one in errors[:SHOWN_ERRORS]:
        outcome = one.outcome if one.status in (None, 200) else f"{one.outcome} {one.status}"
        table.add_row(
            str(one.count), Text(outcome, style="red"), f"{one.example} at {one.at:.1f} s", Text(one.why or "-")
        )
    if len(errors) > SHOWN_ERRORS:
        table.add_row("", "", "", f"and {len(errors) - SHOWN_ERRORS} more kinds; -o json has all")
    return table
