"""The objectives table: what each cell says and which one was judged."""

from __future__ import annotations

from dataclasses import replace

import pytest
import report_views as views

from chaosgate.model.fit import Threshold
from chaosgate.model.result import Estimate, Estimates, Health, ObjectiveEstimate, Reason, Verdict
from chaosgate.report.table import (
    Cell,
    ObjectiveRow,
    estimate_cell,
    format_interval,
    objective_rows,
)
from chaosgate.report.view import ReportView


def rows_of(view: ReportView) -> dict[str, ObjectiveRow]:
    rows = objective_rows(view.spec, view.verdict, view.estimates, view.fits)
    return {row.objective: row for row in rows}


def test_a_row_for_each_objective_in_the_order_of_the_spec(passing: ReportView) -> None:
    assert list(rows_of(passing)) == ["first-token", "same-answers", "headroom", "back"]


def test_an_objective_at_a_dose_is_shown_beside_baseline_and_recovery(failing: ReportView) -> None:
    row = rows_of(failing)["first-token"]
    assert str(row.baseline) == "78ms [73.32ms, 85.02ms]"
    assert str(row.dose) == "640ms [601.6ms, 697.6ms]"
    assert str(row.recovery) == "81ms [76.14ms, 88.29ms]"
    assert (row.judged, row.cell()) == ("dose", row.dose)
    assert (row.sli, row.at, row.bound, row.n) == (
        "ttft-p95",
        "dose <= 180ms of slow-wire",
        "<= 500ms",
        "320, 8 windows",
    )
    assert (row.severity, row.verdict) == ("gate", "fail")


def test_shares_are_written_in_percent(passing: ReportView) -> None:
    assert str(rows_of(passing)["same-answers"].dose) == "99.75 % [99.15 %, 100 %]"


def test_an_objective_at_recovery_judges_the_recovery_and_says_from_when_on(passing: ReportView) -> None:
    row = rows_of(passing)["back"]
    assert (row.judged, str(row.cell())) == ("recovery", "81ms [76.14ms, 88.29ms]")
    assert (row.at, str(row.dose)) == ("recovery, from 1.2s on", "-")


def test_an_objective_at_the_baseline_judges_the_baseline(passing: ReportView) -> None:
    objective = {"name": "calm", "sli": "ttft-p95", "bound": "<= 300ms", "at": "baseline"}
    spec = views.make_spec(objectives=[objective])
    base = views.ttft("baseline", "baseline", 0.078)
    estimates = passing.estimates.model_copy(  # type: ignore[union-attr]
        update={"objectives": (ObjectiveEstimate(objective="calm", estimates=(base,), baseline=base),)}
    )
    (row,) = objective_rows(spec, passing.verdict, estimates, None)
    assert (row.judged, str(row.cell()), row.verdict) == ("baseline", "78ms [73.32ms, 85.02ms]", None)


def test_an_objective_that_judges_each_dose_has_a_row_for_each() -> None:
    each = {"name": "first-token", "sli": "ttft-p95", "bound": "<= 500ms", "at": {"dose": "all"}, "each": True}
    found = tuple(views.ttft(f"dose {dose}ms", "dose", dose / 1000) for dose in (100, 600))
    estimates = Estimates(
        steady_state=(),
        objectives=(ObjectiveEstimate(objective="first-token", estimates=found),),
        doses=(),
        witnesses=(),
        health=Health(schedule_delay_p99=None, requests=0, straddlers=0),
    )
    reasons = (
        Reason(verdict="pass", text="holds", objective="first-token", at="dose 100ms"),
        Reason(verdict="fail", text="breaks", objective="first-token", at="dose 600ms"),
    )
    rows = objective_rows(views.make_spec(objectives=[each]), Verdict(verdict="fail", reasons=reasons), estimates, None)
    assert [(row.at, row.verdict) for row in rows] == [
        ("dose 100ms of slow-wire", "pass"),
        ("dose 600ms of slow-wire", "fail"),
    ]


def test_a_fitted_threshold_names_the_end_that_is_judged(passing: ReportView) -> None:
    row = rows_of(passing)["headroom"]
    assert (row.sli, row.at, row.bound) == ("threshold knee", "lower end of its interval", ">= 180ms")
    assert (str(row.cell()), row.n, row.severity) == ("242ms [231ms, 251ms]", "1040, 26 windows", "warn")


def test_a_bracket_stands_for_the_value_of_a_threshold(undecided: ReportView) -> None:
    cell = rows_of(undecided)["headroom"].cell()
    assert cell == Cell("[220ms, 260ms]", note="bracketed: the doses separate")


def test_a_refused_threshold_says_why(passing: ReportView) -> None:
    refused = Threshold(
        outcome="refused", value=None, lower=None, upper=None, n=80, windows=4, reason="too few doses broke the bound"
    )
    rows = objective_rows(passing.spec, passing.verdict, passing.estimates, views.make_fits(refused))
    assert rows[2].cell() == Cell("-", note="too few doses broke the bound")


def test_a_run_without_estimates_has_empty_cells_and_no_verdicts(broken: ReportView) -> None:
    rows = objective_rows(broken.spec, broken.verdict, None, None)
    assert [str(row.cell()) for row in rows] == ["-"] * 4
    assert [row.verdict for row in rows] == [None] * 4
    assert [row.at for row in rows] == ["dose <= 180ms", "all doses", "lower end of its interval", "recovery"]
    assert {row.n for row in rows} == {"-"}


def test_a_note_on_an_interval_is_kept_only_where_it_is_judged(passing: ReportView) -> None:
    assert passing.estimates is not None
    note, gone = {"upper": None, "reason": "70 of 72 requests"}, {"value": None, "reason": "no request"}
    objective = passing.estimates.objectives[0]
    changed = objective.model_copy(
        update={
            "estimates": (objective.estimates[0].model_copy(update=note),),
            "baseline": views.ttft("baseline", "baseline", 0.078).model_copy(update=note),
            "recovery": views.ttft("recovery", "recovery", 0.081).model_copy(update=gone),
        }
    )
    row = rows_of(replace(passing, estimates=passing.estimates.model_copy(update={"objectives": (changed,)})))[
        "first-token"
    ]
    assert (row.dose.note, row.baseline.note, row.recovery.note) == ("70 of 72 requests", "", "no request")
    assert row.baseline.interval == "[73.32ms, inf)"


def test_a_missing_number_says_why() -> None:
    estimate = Estimate(
        sli="ttft-p99", at="baseline", place="baseline", dimension="duration", reason="62 of 368 requests"
    )
    assert estimate_cell(estimate) == Cell("-", note="62 of 368 requests")


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        (0.1, 0.2, "[100ms, 200ms]"),
        (None, 0.2, "(-inf, 200ms]"),
        (0.1, None, "[100ms, inf)"),
        (None, None, ""),
    ],
)
def test_an_open_end_of_an_interval_is_shown_as_open(lower: float | None, upper: float | None, text: str) -> None:
    assert format_interval(lower, upper, "duration") == text


def test_the_worst_reason_of_an_objective_is_its_verdict(passing: ReportView) -> None:
    reasons = tuple(
        Reason(verdict=verdict, text="at some place", objective="back", at="elsewhere")
        for verdict in ("pass", "fail", "warn")
    )
    rows = rows_of(replace(passing, verdict=Verdict(verdict="fail", reasons=reasons)))
    assert (rows["back"].verdict, rows["first-token"].verdict) == ("fail", None)
