"""Before, during and after as plain data: changes with tests, what became of requests, times to detect and recover."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from chaosgate.model.comparison import Comparison, DetectionTime, Interval, OutcomeRow, RecoveryTime, RequestOutcome
from chaosgate.report.plots.distributions import distributions_plot
from chaosgate.report.plots.effects import effects_plot
from chaosgate.report.plots.outcomes import outcomes_plot
from chaosgate.report.table import MISSING, Cell, format_interval
from chaosgate.report.view import ReportView
from chaosgate.units import Dimension, format_value

OUTCOME_WORDS: dict[RequestOutcome, str] = {
    "masked": "masked",
    "unscored": "answered, not scored",
    "altered": "another answer",
    "fluent-wrong": "fluent but wrong",
    "garbled": "garbled",
    "detected": "detected",
    "hung": "hung",
    "crashed": "crashed",
}


@dataclass(frozen=True)
class ComparedPlots:
    """The plots of one fault, each an `<svg>`, or the empty text where there is nothing to draw."""

    fault: str
    distributions: Markup
    effects: Markup
    outcomes: Markup


@dataclass(frozen=True)
class ComparisonTable:
    """What one fault changed: a row an SLI and place, with the change, the effect size and the tests."""

    fault: str
    rows: tuple[tuple[str, str, Cell, Cell, Cell, Cell, str], ...]


@dataclass(frozen=True)
class OutcomeTable:
    """What became of the requests that one fault touched: `outcomes` are the columns, `rows` the doses."""

    fault: str
    outcomes: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def comparison_tables(view: ReportView) -> tuple[ComparisonTable, ...]:
    """A table for each fault that was compared with the baseline."""
    found = _comparisons(view)
    faults = dict.fromkeys(each.fault for each in found)
    return tuple(ComparisonTable(fault, tuple(_row(each) for each in found if each.fault == fault)) for fault in faults)


def outcome_tables(view: ReportView) -> tuple[OutcomeTable, ...]:
    """A table for each fault of which it is known what became of requests."""
    rows = () if view.estimates is None else view.estimates.outcomes
    return tuple(_outcome_table(view, fault, rows) for fault in dict.fromkeys(row.fault for row in rows))


def compared_plots(view: ReportView) -> tuple[ComparedPlots, ...]:
    """The plots of every fault of the spec that was compared with the baseline."""
    return tuple(_plots(view, fault.name) for fault in view.spec.spec.faults if view.estimates is not None)


def _plots(view: ReportView, fault: str) -> ComparedPlots:
    estimates = view.estimates
    known = None if estimates is None else estimates.comparisons
    drawn = [each for each in (known.distributions if known else ()) if each.fault == fault]
    mine = [each for each in _comparisons(view) if each.fault == fault]
    rows = [row for row in (estimates.outcomes if estimates else ()) if row.fault == fault]
    names = ", ".join(dict.fromkeys(each.sli for each in drawn))
    labels = [dose_label(view, row) for row in rows]
    return ComparedPlots(
        fault,
        Markup(distributions_plot(fault, drawn, f"{names} in the baseline, at all doses together, and after them")),
        Markup(effects_plot(fault, mine, f"Cliff's delta against the baseline of {len(mine)} comparisons")),
        Markup(outcomes_plot(fault, rows, labels, OUTCOME_WORDS, f"What became of requests: {'; '.join(labels)}")),
    )


def time_rows(view: ReportView) -> list[tuple[str, ...]]:
    """Rows of fault, SLI, bound, dose, time to detect and in how many windows; after them the times to recover."""
    times = None if view.estimates is None else view.estimates.times
    if times is None:
        return []
    told = [_detection(view, each) for each in times.detection if each.detected]
    return [*told, *(_recovery(each) for each in times.recovery)]


def _comparisons(view: ReportView) -> tuple[Comparison, ...]:
    known = None if view.estimates is None else view.estimates.comparisons
    return () if known is None else known.comparisons


def _row(each: Comparison) -> tuple[str, str, Cell, Cell, Cell, Cell, str]:
    change = _cell(each.change, each.dimension, each.reason or ("by prompt" if each.paired else ""))
    effect = Cell(MISSING) if each.effect is None else _cell(each.effect, "number")
    before, then = (_cell(interval, each.dimension) for interval in (each.before, each.then))
    tests = "; ".join(f"{test.test} {probability(test.adjusted)}" for test in each.tests)
    return each.sli, each.at, before, then, change, effect, tests or MISSING


def probability(p: float) -> str:
    """`p = 0.031`, or `p < 0.001`: below that no design is so well known."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _cell(interval: Interval, dimension: Dimension, note: str = "") -> Cell:
    if interval.value is None:
        return Cell(MISSING, format_interval(interval.lower, interval.upper, dimension), note)
    ends = format_interval(interval.lower, interval.upper, dimension)
    return Cell(format_value(interval.value, dimension), ends, note)


def _outcome_table(view: ReportView, fault: str, rows: tuple[OutcomeRow, ...]) -> OutcomeTable:
    mine = [row for row in rows if row.fault == fault]
    found = {each.outcome for row in mine for each in row.counts}
    columns = [outcome for outcome in OUTCOME_WORDS if outcome in found]
    cells = tuple((dose_label(view, row), str(row.n), tuple(_outcome(row, name) for name in columns)) for row in mine)
    return OutcomeTable(fault, tuple(OUTCOME_WORDS[name] for name in columns), cells)


def dose_label(view: ReportView, row: OutcomeRow) -> str:
    """The dose of a row in its unit."""
    if row.dose == 0:
        return "controls (dose 0)"
    return format_value(row.dose, view.spec.fault(row.fault).axis().dimension)


def _outcome(row: OutcomeRow, name: RequestOutcome) -> Cell:
    for each in row.counts:
        if each.outcome == name:
            return _cell(each.share, "share", f"{each.count} of {row.n}")
    return Cell("0 %", note=f"0 of {row.n}")


def _detection(view: ReportView, each: DetectionTime) -> tuple[str, ...]:
    dose = format_value(each.dose, view.spec.fault(each.fault).axis().dimension)
    told = f"{format_value(each.seconds, 'duration')} (median)"
    return each.fault, f"{each.sli} {each.bound}", dose, f"detected after {told}", f"{each.detected} of {each.windows}"


def _recovery(each: RecoveryTime) -> tuple[str, ...]:
    observed = format_value(each.observed, "duration")
    if each.seconds is None:
        said = f"not recovered in {observed}" if each.requests else "no request tells"
    elif each.seconds == 0:
        said = "kept from the end of the fault on"
    else:
        said = f"recovered {format_value(each.seconds, 'duration')} after the end of the fault"
    return each.fault, f"{each.sli} {each.bound}", "after it", said, f"{each.requests} requests in {observed}"
