"""The report of a run as Markdown, for job summaries, comments and pipeline pages: text only, equal for equal input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaosgate.model.result import VerdictName
from chaosgate.report import sections as shared
from chaosgate.report.advice import next_steps
from chaosgate.report.budget import Row, Section, fit_page
from chaosgate.report.escape import markdown_code, markdown_command, markdown_text
from chaosgate.report.table import MISSING, Cell, ObjectiveRow, objective_rows
from chaosgate.report.view import ReportView

LIMIT = 60_000
"""Bytes. GitHub takes 64 KiB in an annotation or a comment and 1 MiB in the summaries of a job's step."""
LEFT_OUT = "Rows left out to keep this page short: {count}; `chaosgate report RUN` shows them all."
COLUMNS = ("objective", "SLI", "baseline", "at dose", "recovery", "bound", "judged on", "verdict")
RANKS: dict[VerdictName | None, int] = {"error": 0, "fail": 0, "inconclusive": 0, "warn": 1, None: 2, "pass": 4}
"""What is left out of a page that grows too long: first what holds."""
FACTS = 3
"""The rank of subject, threshold and record."""


def render_markdown(view: ReportView, limit: int = LIMIT) -> str:
    """The page in at most `limit` bytes of UTF-8; whole rows are left out of a longer one, and it says how many.

    No text of a spec or a server can end its cell or line, or become markup. A ValueError when `limit` is too small
    for the headings, which take less than 2,000 bytes.
    """
    page = (_reasons(view), _objectives(view), _thresholds(view), _next(view), _subject(view), _record(view))
    return fit_page(_head(view), page, limit, LEFT_OUT)


def _head(view: ReportView) -> str:
    verdict, meaning = view.verdict.verdict, shared.MEANING[view.verdict.verdict]
    if view.ended and not view.sealed_clean:
        state = "unsealed" if view.seal is None else "unclean"
        verdict_line, meaning = f"{verdict}, {state}", "The cleanup is not proved: something may be left behind."
    else:
        verdict_line = verdict
    started = shared.clock_time(view.record.started)
    duration = shared.run_duration(view.record.started, view.record.finished)
    name = markdown_code(view.spec.metadata.name)
    return f"## chaosgate: {verdict_line}\n\n{name}: {meaning} {started}, {duration}."


def _reasons(view: ReportView) -> Section:
    reasons = shared.sorted_reasons(view.verdict.reasons)
    rows = [
        Row(f"- **{reason.verdict}** {markdown_text(reason.text)}{_warns(reason.severity)}", RANKS[reason.verdict])
        for reason in reasons
    ]
    return Section("Why", rows, empty="The verdict came without a reason.")


def _warns(severity: str | None) -> str:
    return " (warns only)" if severity == "warn" else ""


def _objectives(view: ReportView) -> Section:
    found = objective_rows(view.spec, view.verdict, view.estimates, view.fits)
    rows = [Row(_table_row(_objective_cells(row)), RANKS[row.verdict]) for row in found]
    return Section("Objectives", rows, _table_head(COLUMNS))


def _objective_cells(row: ObjectiveRow) -> Iterator[str]:
    yield f"{markdown_text(row.objective)}{_warns(row.severity)}"
    yield markdown_text(row.sli)
    for place, cell in (("baseline", row.baseline), ("dose", row.dose), ("recovery", row.recovery)):
        text = markdown_text(_cell(cell))
        yield f"**{text}**" if place == row.judged and cell.value != MISSING else text
    yield markdown_text(row.bound)
    yield markdown_text(row.at if row.n == MISSING else f"{row.at} (n = {row.n})")
    yield row.verdict or "not judged"


def _cell(cell: Cell) -> str:
    """The cell, and why there is no number where there is none."""
    return f"{cell} ({cell.note})" if cell.value == MISSING and cell.note else str(cell)


def _thresholds(view: ReportView) -> Section:
    results = {} if view.fits is None else {result.name: result for result in view.fits.fits}
    found = [(fit, results[fit.name]) for fit in view.spec.spec.fits if fit.name in results]
    sentences = [
        (fit.name, shared.threshold_sentence(fit, result, view.spec.fault(fit.fault).axis())) for fit, result in found
    ]
    rows = [Row(f"- **{name}** {markdown_text(sentence)}", FACTS) for name, sentence in sentences]
    asked = bool(view.spec.spec.fits)
    empty = "The run ended before a threshold could be fitted." if asked else "The spec asks for no fit."
    return Section("Thresholds", rows, empty=empty)


def _next(view: ReportView) -> Section:
    return Section(
        "What to do next", [Row(f"- {step.text} {markdown_command(step.command)}") for step in next_steps(view)]
    )


def _subject(view: ReportView) -> Section:
    subject = view.verdict.subject or view.record.subject
    facts = [] if subject is None else shared.subject_facts(subject)
    return Section("Subject", _fact_rows(facts), _table_head(("what", "read back")), "The target was not read back.")


def _record(view: ReportView) -> Section:
    return Section("Run", _fact_rows(shared.record_facts(view)), _table_head(("what", "value")))


def _fact_rows(facts: Sequence[shared.Fact]) -> list[Row]:
    return [Row(_table_row((markdown_text(fact.label), markdown_code(fact.value))), FACTS) for fact in facts]


def _table_head(columns: Sequence[str]) -> tuple[str, str]:
    return _table_row(columns), _table_row(["---"] * len(columns))


def _table_row(cells: Sequence[str] | Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"
