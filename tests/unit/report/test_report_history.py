"""A run beside its history: which runs count, when a number is ordinary, worse or beyond a relative bound."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import report_views as views

from chaosgate.model.history import GateHistory
from chaosgate.model.result import Cleanup, Verdict
from chaosgate.model.spec import Gate
from chaosgate.report.history import (
    AgainstHistory,
    RunHistory,
    accepted,
    beside_history,
    history_json,
    history_schema,
)
from chaosgate.report.view import ReportView

CLEAN = Cleanup(clean=True, actions=())
RULES = GateHistory()
PAST = (0.262, 0.268, 0.271, 0.266, 0.274)
"""P95 of earlier runs, seconds: mean 268.2 ms, standard deviation 4.6 ms."""


def at(view: ReportView, run: str, minute: int) -> ReportView:
    """The view as that of another run, sealed clean, that began in that minute."""
    record = view.record.model_copy(update={"started": f"2026-03-01T09:{minute:02}:00+00:00"})
    return replace(view, run=run, record=record, seal=CLEAN)


def valued(value: float | None, run: str = "now", minute: int = 50, **update: Any) -> ReportView:
    """A passing run whose first objective has another P95, with an interval of 3 % either way."""
    view = at(views.passing(), run, minute)
    assert view.estimates is not None
    ends = {} if value is None else {"lower": value * 0.97, "upper": value * 1.03}
    first, *rest = view.estimates.objectives
    judged = first.estimates[0].model_copy(update={"value": value, **ends, **update})
    objectives = (first.model_copy(update={"estimates": (judged,)}), *rest)
    return replace(view, estimates=view.estimates.model_copy(update={"objectives": objectives}))


def past(values: tuple[float, ...] = PAST) -> list[ReportView]:
    return [valued(value, f"run-{index}", index) for index, value in enumerate(values)]


def first_token(found: RunHistory) -> AgainstHistory:
    (row,) = (row for row in found.rows if row.objective == "first-token")
    return row


def with_bounds(view: ReportView, **bound: str) -> GateHistory:
    return GateHistory.model_validate({"bounds": [{"objective": "first-token", **bound}]})


def test_an_ordinary_run_passes_with_its_mean_and_band() -> None:
    found = beside_history(valued(0.27), past(), RULES)
    row = first_token(found)
    assert (found.verdict, found.exit_code, row.verdict, row.n) == ("pass", 0, "pass", 5)
    assert row.mean == pytest.approx(0.2682)
    # 268.2 +- 2.776 * 4.60 * sqrt(1.2) ms.
    assert row.band == pytest.approx((0.2542, 0.2822), abs=1e-4)
    assert row.change == pytest.approx(0.27 / 0.2682 - 1)


@pytest.mark.parametrize(("value", "verdict", "code"), [(0.283, "warn", 0), (0.31, "fail", 1), (0.2, "pass", 0)])
def test_worse_than_the_band_warns_then_fails_and_better_is_no_harm(value: float, verdict: str, code: int) -> None:
    found = beside_history(valued(value), past(), RULES)
    assert (first_token(found).verdict, found.verdict, found.exit_code) == (verdict, verdict, code)


def test_a_run_whose_own_interval_reaches_the_mean_is_ordinary() -> None:
    wide = valued(0.31, lower=0.26, upper=0.5)
    assert first_token(beside_history(wide, past(), RULES)).verdict == "pass"


def test_a_history_that_never_varied_does_not_fail_what_may_be_the_same() -> None:
    same = past((0.268,) * 5)
    assert first_token(beside_history(valued(0.269), same, RULES)).verdict == "pass"
    assert first_token(beside_history(valued(0.29), same, RULES)).verdict == "fail"


def test_a_run_that_failed_beyond_every_number_fails() -> None:
    endless = valued(None, lower=None, upper=None, unbounded=True)
    assert first_token(beside_history(endless, past(), RULES)).verdict == "fail"


def test_a_missing_number_is_inconclusive() -> None:
    missing = valued(None, lower=None, upper=None, reason="n = 12 of 72 needed for a P95")
    found = beside_history(missing, past(), RULES)
    assert (first_token(found).verdict, found.exit_code) == ("inconclusive", 3)
    assert "n = 12 of 72 needed" in first_token(found).text


def test_too_short_a_history_says_nothing() -> None:
    found = beside_history(valued(9.0), past()[:2], RULES)
    assert (first_token(found).verdict, first_token(found).band, found.verdict) == (None, None, "pass")
    assert "2 of 3 runs needed" in first_token(found).text


def test_only_clean_accepted_earlier_runs_of_the_spec_count() -> None:
    other = replace(past()[0], spec=views.make_spec(composition="parallel"))
    odd = [
        replace(past()[0], seal=None),
        replace(past()[1], seal=Cleanup(clean=False, actions=())),
        replace(past()[2], verdict=Verdict(verdict="warn", reasons=())),
        replace(past()[3], verdict=Verdict(verdict="fail", reasons=())),
        replace(other, run="other"),
        valued(0.2, "later", 55),
        valued(0.2, "now", 50),
    ]
    run = valued(0.27)
    assert accepted(run, odd, RULES) == []
    assert [each.run for each in accepted(run, odd, GateHistory(accept="warn"))] == ["run-2"]
    assert [each.run for each in accepted(run, past()[::-1], GateHistory(last=3))] == ["run-2", "run-3", "run-4"]


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.27, "pass"), (0.29, "warn"), (0.40, "fail"), (0.33, "inconclusive")],
)
def test_a_relative_bound_is_kept_by_the_whole_interval(value: float, verdict: str) -> None:
    rules = with_bounds(valued(value), **{"pass": "<= +10 %", "warn": "<= +25 %"})
    row = first_token(beside_history(valued(value), past(), rules))
    assert (row.verdict, row.bound, row.band) == (verdict, "<= +10 %, warns to <= +25 %", None)


def test_what_straddles_is_what_the_spec_makes_of_it() -> None:
    run = valued(0.29)
    gate = Gate.model_validate({"onUncertain": "fail"})
    strict = run.spec.model_copy(update={"spec": run.spec.spec.model_copy(update={"gate": gate})})
    rules = with_bounds(run, **{"pass": "<= +10 %"})
    assert first_token(beside_history(run, past(), rules)).verdict == "inconclusive"
    same = [replace(each, spec=each.spec) for each in past()]
    found = first_token(beside_history(replace(run, spec=run.spec), same, rules))
    assert found.text == "the interval of the change straddles <= +10 %"
    earlier = [replace(each, spec=strict) for each in past()]
    assert first_token(beside_history(replace(run, spec=strict), earlier, rules)).verdict == "fail"


def test_the_interval_of_the_change_carries_both_runs_and_history() -> None:
    row = first_token(beside_history(valued(0.27), past(), RULES))
    assert row.change is not None
    assert row.change_lower is not None
    assert row.change_upper is not None
    # 3 % of the run and 2.776 * 4.60 / sqrt(5) = 5.7 ms of 268.2 ms, 2.1 %, of the mean: hypot 3.7 points.
    assert row.change - row.change_lower == pytest.approx(0.037, abs=0.001)
    assert row.change_upper - row.change == pytest.approx(0.037, abs=0.001)


def test_an_objective_that_only_warns_never_fails_the_gate() -> None:
    rows = beside_history(valued(0.27), past(), RULES).rows
    (headroom,) = (row for row in rows if row.objective == "headroom")
    assert (headroom.severity, headroom.better, headroom.at) == ("warn", "higher", "threshold")


def test_a_run_that_is_not_sealed_clean_is_4_whatever_its_numbers() -> None:
    assert beside_history(replace(valued(0.27), seal=None), past(), RULES).exit_code == 4


def test_the_runs_own_verdict_stands() -> None:
    failed = replace(valued(0.27), verdict=Verdict(verdict="fail", reasons=()))
    found = beside_history(failed, past(), RULES)
    assert (found.own, found.verdict, found.exit_code) == ("fail", "fail", 1)


def test_json_keeps_to_its_schema() -> None:
    for found in (beside_history(valued(0.31), past(), RULES), beside_history(valued(0.3), [], RULES)):
        jsonschema.validate(json.loads(history_json(found)), json.loads(history_schema()))


def test_the_committed_schema_is_fresh() -> None:
    committed = (Path(__file__).parents[3] / "schemas" / "run-history.v1.json").read_text()
    assert committed == history_schema(), "schemas/run-history.v1.json is stale; run `make generate`"


def test_every_objective_on_a_fit_is_held_against_its_history() -> None:
    view = at(views.passing(), "now", 50)
    (mine,) = (each for each in view.spec.spec.objectives if each.fit is not None)
    gate = mine.model_copy(update={"name": "hard-limit", "severity": "gate"})
    body = view.spec.spec.model_copy(update={"objectives": (gate, *view.spec.spec.objectives)})
    found = beside_history(replace(view, spec=view.spec.model_copy(update={"spec": body})), [], RULES)
    assert [(row.objective, row.severity) for row in found.rows if row.at == "threshold"] == [
        ("hard-limit", "gate"),
        (mine.name, mine.severity),
    ]
