"""Two runs side by side: what is compared with what, which way it points, and what changed around it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import report_views as views

from chaosgate.model.fit import Threshold
from chaosgate.model.result import Cleanup, ObjectiveEstimate
from chaosgate.report.changes import environment_changes, parts_of, spec_changes, subject_changes
from chaosgate.report.comparison import Compared, Comparison, compare, comparison_json, comparison_schema
from chaosgate.report.numbers import numbers_of
from chaosgate.report.view import ReportView
from chaosgate.statistics.difference import Arm, difference
from chaosgate.strict_json import parse_json

ROOT = Path(__file__).parents[3]


def row(found: Comparison, kind: str, name: str, at: str) -> Compared:
    """The one row of that kind, name and place."""
    (one,) = (each for each in found.rows if (each.kind, each.name, each.at) == (kind, name, at))
    return one


def with_first(view: ReportView, **update: Any) -> ReportView:
    """The view with the estimate of its first objective changed."""
    assert view.estimates is not None
    first, *rest = view.estimates.objectives
    changed = first.estimates[0].model_copy(update=update)
    objectives = (first.model_copy(update={"estimates": (changed,)}), *rest)
    return replace(view, estimates=view.estimates.model_copy(update={"objectives": objectives}))


def with_threshold(view: ReportView, **update: Any) -> ReportView:
    given = {"outcome": "fitted", "value": 0.24, "lower": 0.23, "upper": 0.25, "n": 1040, "windows": 26}
    return replace(view, fits=views.make_fits(Threshold.model_validate({**given, **update})))


def first_token(a: ReportView, b: ReportView) -> Compared:
    return row(compare(a, b), "objective", "first-token", "dose <= 180ms")


def test_an_objective_has_both_numbers_their_difference_and_both_verdicts() -> None:
    found = first_token(views.passing(), views.failing())
    assert (found.a and found.a.value, found.b and found.b.value) == (0.268, 0.64)
    expected = difference(Arm(0.268, 0.268 * 0.94, 0.268 * 1.09), Arm(0.64, 0.64 * 0.94, 0.64 * 1.09))
    assert (found.difference.value, found.difference.lower) == pytest.approx((expected.value, expected.lower))
    assert (found.sli, found.fault, found.dimension, found.better) == ("ttft-p95", "slow-wire", "duration", "lower")
    assert (found.answer, found.a and found.a.verdict, found.b and found.b.verdict) == ("worse", "pass", "fail")


def test_the_other_way_round_it_is_better() -> None:
    found = first_token(views.failing(), views.passing())
    assert found.answer == "better"
    assert found.difference.value == pytest.approx(-0.372)


def test_where_more_is_better_less_is_worse(passing: ReportView) -> None:
    assert passing.estimates is not None
    first, second, last = passing.estimates.objectives
    worse = second.estimates[0].model_copy(update={"value": 0.9, "lower": 0.88, "upper": 0.92})
    objectives = (first, second.model_copy(update={"estimates": (worse,)}), last)
    changed = replace(passing, estimates=passing.estimates.model_copy(update={"objectives": objectives}))
    found = row(compare(passing, changed), "objective", "same-answers", "all doses")
    assert (found.better, found.answer) == ("higher", "worse")


def test_the_same_run_differs_nowhere(passing: ReportView) -> None:
    found = compare(passing, passing)
    assert {each.answer for each in found.rows} == {"no difference shown"}
    assert (found.spec, found.subject, found.environment) == ((), (), ())


def test_every_sli_is_compared_at_every_place(passing: ReportView) -> None:
    found = [(each.name, each.at) for each in compare(passing, passing).rows if each.kind == "sli"]
    places = ["baseline", "controls", "dose 100ms", "dose 180ms", "dose 220ms", "dose 260ms", "dose 320ms", "recovery"]
    assert sorted(found) == sorted(
        [*(("ttft-p95", place) for place in places), *(("exact-match", at) for at in places if at != "controls")]
    )


def test_what_was_judged_is_compared_by_its_own_estimate(passing: ReportView) -> None:
    numbers = numbers_of(passing)
    judged = next(number for place, number in numbers.items() if (place.kind, place.name) == ("objective", "back"))
    assert (judged.value, judged.verdict) == (0.081, "pass")


@pytest.mark.parametrize(
    ("update", "answer"),
    [
        ({"value": None, "lower": None, "upper": None, "n": 0, "reason": "no request"}, "not enough data"),
        ({"value": 0.3, "lower": 0.2, "upper": None}, "not enough data"),
        ({"value": 0.3, "lower": 0.2, "upper": 0.4}, "no difference shown"),
        ({"value": 0.9, "lower": 0.8, "upper": None}, "worse"),
        ({"value": None, "lower": 0.8, "upper": None, "reason": "40 of 320 requests failed"}, "worse"),
        ({"value": None, "lower": None, "upper": None, "unbounded": True}, "worse"),
    ],
    ids=["none", "open", "straddles", "open and beyond", "infinite value", "unbounded"],
)
def test_what_an_interval_can_say(passing: ReportView, update: dict[str, Any], answer: str) -> None:
    found = first_token(passing, with_first(passing, **update))
    assert found.answer == answer
    assert first_token(with_first(passing, **update), passing).answer == {"worse": "better"}.get(answer, answer)


@pytest.mark.parametrize(
    ("update", "answer", "value"),
    [
        ({"value": 0.15, "lower": 0.14, "upper": 0.16}, "worse", -0.09),
        ({"value": 0.3, "lower": 0.29, "upper": 0.31}, "better", 0.06),
        ({"outcome": "bracketed", "value": None, "lower": 0.1, "upper": 0.18}, "worse", None),
        ({"outcome": "bracketed", "value": None, "lower": 0.22, "upper": 0.26}, "no difference shown", None),
        ({"outcome": "refused", "reason": "too few"}, "not enough data", None),
    ],
)
def test_thresholds(passing: ReportView, update: dict[str, Any], answer: str, value: float | None) -> None:
    found = row(compare(with_threshold(passing), with_threshold(passing, **update)), "threshold", "knee", "threshold")
    assert found.answer == answer
    assert found.difference.value == (None if value is None else pytest.approx(value))
    assert found.a is not None
    assert found.a.verdict == "pass"


def test_the_worst_comes_first() -> None:
    found = compare(views.passing(), with_threshold(views.failing(), value=0.1, lower=0.09, upper=0.11))
    answers = [each.answer for each in found.rows]
    assert answers == sorted(answers, key=["worse", "not enough data", "no difference shown", "better"].index)
    worse = [(each.kind, each.name) for each in found.rows if each.answer == "worse"]
    assert worse[:2] == [("objective", "first-token"), ("threshold", "knee")]


def test_what_is_judged_worse_comes_before_any_number(passing: ReportView) -> None:
    """As under another bound: the numbers are the same, and the gate says no."""
    reasons = tuple(
        reason.model_copy(update={"verdict": "fail"}) if reason.objective == "back" else reason
        for reason in passing.verdict.reasons
    )
    judged = replace(passing, verdict=passing.verdict.model_copy(update={"reasons": reasons}))
    slower = with_first(judged, value=9.0, lower=8.9, upper=9.1)
    first, second, *_ = compare(passing, slower).rows
    assert (first.name, first.answer, first.b and first.b.verdict) == ("back", "no difference shown", "fail")
    assert (second.name, second.answer) == ("first-token", "worse")
    assert compare(slower, passing).rows[0].name != "back"


def test_what_only_one_run_has_comes_last_and_is_not_compared(passing: ReportView) -> None:
    assert passing.estimates is not None
    extra = ObjectiveEstimate(objective="new", estimates=(views.ttft("dose <= 100ms", "dose", 9.0),))
    objectives = (extra, *passing.estimates.objectives)
    other = replace(passing, estimates=passing.estimates.model_copy(update={"objectives": objectives}))
    last = compare(passing, other).rows[-1]
    assert (last.name, last.a, last.in_both, last.answer) == ("new", None, False, "not enough data")


def test_numbers_of_another_kind_are_not_held_against_each_other(passing: ReportView) -> None:
    other = with_first(passing, sli="itl-p95")
    found = [each for each in compare(passing, other).rows if each.name == "first-token"]
    assert [(each.sli, each.in_both) for each in found] == [("ttft-p95", False), ("itl-p95", False)]


def test_a_run_without_estimates_has_only_its_thresholds(passing: ReportView) -> None:
    assert {place.kind for place in numbers_of(replace(passing, estimates=None))} == {"threshold"}
    assert numbers_of(views.broken()) == {}


def test_what_changed_in_the_spec_is_named_by_its_path() -> None:
    first, second = views.make_spec(), views.make_spec(workload=changed_workload())
    found = spec_changes(first, second)
    assert [(each.what, each.a, each.b) for each in found] == [("workload.arrivals.rate", "20/s", "30/s")]
    assert parts_of(found) == ["workload"]


def changed_workload() -> dict[str, Any]:
    body = views.make_spec().to_json()["spec"]["workload"]
    return {**body, "arrivals": {"process": "poisson", "rate": "30/s"}}


def test_what_the_digest_leaves_out_is_no_change() -> None:
    first = views.make_spec()
    second = views.make_spec(metadata={"labels": {"suite": "other"}}, tracking={"experiment": "other"})
    assert first.digest() == second.digest()
    assert spec_changes(first, second) == ()


def test_what_changed_of_subject_and_environment(passing: ReportView) -> None:
    subject = views.SUBJECT.model_copy(update={"weights_digest": "sha256:" + "0" * 64, "arguments": {"seed": 0}})
    environment = {**passing.record.environment, "python": "3.12.1", "mlflow": "3.5"}
    other = replace(
        passing,
        verdict=passing.verdict.model_copy(update={"subject": subject}),
        record=passing.record.model_copy(update={"environment": environment}),
    )
    found = {change.what: (change.a, change.b) for change in subject_changes(passing, other)}
    assert found == {
        "weightsDigest": (views.SUBJECT.weights_digest, "sha256:" + "0" * 64),
        "arguments.max_batch": ("8", None),
    }
    around = {change.what: (change.a, change.b) for change in environment_changes(passing, other)}
    assert around == {"python": ("3.11.9", "3.12.1"), "mlflow": (None, "3.5")}


def test_the_json_keeps_the_committed_schema() -> None:
    committed = (ROOT / "schemas" / "run-comparison.v1.json").read_text()
    assert committed == comparison_schema(), "schemas/run-comparison.v1.json is stale; run `make generate`"
    schema = json.loads(committed)
    jsonschema.Draft202012Validator.check_schema(schema)
    unbounded = with_first(views.passing(), value=None, lower=None, upper=None, unbounded=True)
    for a, b in ((views.passing(), views.failing()), (views.passing(), unbounded), (views.broken(), views.undecided())):
        data = parse_json(comparison_json(compare(a, b)))
        jsonschema.validate(data, schema)
        assert data["schema"] == "chaosgate/run-comparison/v1"
    assert not jsonschema.Draft202012Validator(schema).is_valid({**data, "rows": [{}]})


def test_the_runs_are_named_with_verdict_and_seal(passing: ReportView) -> None:
    found = compare(replace(passing, seal=Cleanup(clean=True, actions=())), views.failing())
    assert (found.a.run, found.a.verdict, found.a.exit_code, found.a.sealed_clean) == (views.RUN, "pass", 0, True)
    assert (found.b.verdict, found.b.exit_code, found.b.sealed_clean) == ("fail", 4, False)


def test_equal_bytes_for_equal_input() -> None:
    one, other = (comparison_json(compare(views.passing(), views.failing())) for _ in range(2))
    assert one == other
