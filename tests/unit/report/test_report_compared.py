"""Before, during and after on the page: what changed, what became of requests, how soon."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import report_views
from report_page import Page
from simulated_run import OBJECTIVES, Conditions, simulate, stream_spec

from chaosgate.estimate import estimate_run
from chaosgate.report.compared import comparison_tables, outcome_tables, probability, time_rows
from chaosgate.report.render import render_report
from chaosgate.report.view import ReportView


@cache
def view() -> ReportView:
    run = simulate(stream_spec(objectives=OBJECTIVES[:2]), Conditions(wrong=0.2, slow_recovery=2.0))
    return replace(report_views.passing(), spec=run.spec, estimates=estimate_run(run), injections=run.injections)


def test_a_row_an_sli_and_place() -> None:
    (table,) = comparison_tables(view())
    row = next(row for row in table.rows if row[:2] == ("ttft-p95", "dose 320ms"))
    _, _, before, then, change, effect, tests = row

    assert table.fault == "slow-wire"
    assert before.value.endswith("ms")
    assert then.value.endswith("ms")
    assert change.value.startswith(("31", "32", "33"))
    assert effect.value == "1"
    assert tests.startswith("Wilcoxon p < 0.001; Kolmogorov-Smirnov p < 0.001; Mann-Whitney p ")


def test_answers_are_marked_as_compared_by_prompt() -> None:
    (table,) = comparison_tables(view())
    row = next(row for row in table.rows if row[:2] == ("exact-match", "all doses"))

    assert row[4].note == "by prompt"
    assert row[5].value == "-"


def test_outcomes_by_dose_with_counts() -> None:
    (table,) = outcome_tables(view())

    assert table.outcomes == ("masked", "another answer")
    assert [label for label, _, _ in table.rows] == ["controls (dose 0)", "100ms", "180ms", "220ms", "260ms", "320ms"]
    _, n, cells = table.rows[0]
    assert [cell.note for cell in cells] == [f"{n} of {n}", f"0 of {n}"]


def test_times_to_detect_and_to_recover() -> None:
    rows = time_rows(view())
    detected = next(row for row in rows if row[1:3] == ("ttft-p95 <= 300ms", "320ms"))
    back = next(row for row in rows if row[1:3] == ("ttft-p95 <= 300ms", "after it"))

    assert detected[3].startswith("detected after ")
    assert detected[4] == "4 of 4"
    assert back[3].startswith("recovered ")
    assert not any(row[2] == "100ms" and row[1].startswith("ttft") for row in rows)


def test_the_page_has_the_section_with_its_plots() -> None:
    page = Page(render_report(view()))

    assert "Before, during and after" in page.text
    assert "What slow-wire changed: 21 comparisons with the baseline" in page.text
    assert {
        "Before, during and after slow-wire. ttft in the baseline, at all doses together, and after them",
        "Effect sizes of slow-wire. Cliff's delta against the baseline of 21 comparisons",
    } <= set(page.values("aria-label"))


def test_a_run_of_before_has_no_such_section() -> None:
    assert "Before, during and after" not in Page(render_report(report_views.passing())).text
    assert comparison_tables(report_views.broken()) == ()
    assert outcome_tables(report_views.broken()) == ()
    assert time_rows(report_views.broken()) == []


def test_a_probability_has_three_digits_at_most() -> None:
    assert probability(0.03145) == "p = 0.031"
    assert probability(0.0009) == "p < 0.001"
    assert probability(1.0) == "p = 1.000"
