"""JUnit XML: red exactly when the exit code is not 0, and each thing that was judged told apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import judged_run
import pytest
import report_views as views
from hypothesis import given, settings
from hypothesis import strategies as st
from junit_schema import case_named, parse_junit, red

from chaosgate.model.result import Cleanup, Reason, Subject, Verdict, VerdictName, worst
from chaosgate.report.cases import cases_of
from chaosgate.report.junit import render_junit
from chaosgate.report.view import ReportView

CLEAN = Cleanup(clean=True, actions=("halted the gateway",))
VERDICTS: tuple[VerdictName, ...] = ("pass", "warn", "inconclusive", "fail", "error")
OBJECTIVES = (None, "first-token", "same-answers", "headroom", "back", "nobody-s")
PLACES = (None, "baseline", "recovery", "block1", "dose 100ms")
HOSTILE = "<![CDATA[ ]]> </testcase> \" ' & \x00\x1b[31m \ud800 \ufffe ‮ @octocat"


def sealed(view: ReportView, seal: Cleanup | None = CLEAN) -> ReportView:
    return replace(view, seal=seal)


def judged(view: ReportView, *reasons: Reason) -> ReportView:
    return sealed(replace(view, verdict=Verdict(verdict=worst(reasons), reasons=reasons, subject=views.SUBJECT)))


def reason(verdict: VerdictName, objective: str | None = None, **more: Any) -> Reason:
    return Reason.model_validate({"verdict": verdict, "text": f"a {verdict}", "objective": objective, **more})


REASONS = st.builds(
    reason,
    st.sampled_from(VERDICTS),
    st.sampled_from(OBJECTIVES),
    at=st.sampled_from(PLACES),
    bound=st.sampled_from([None, "<= 1 %"]),
)
SEALS = st.sampled_from([CLEAN, Cleanup(clean=False, actions=(), left=("engine",)), None])


@settings(max_examples=200)
@given(st.lists(REASONS, max_size=8), SEALS, st.booleans())
def test_red_exactly_when_the_exit_code_is_not_0(reasons: list[Reason], seal: Cleanup | None, each: bool) -> None:
    view = sealed(judged(views.passing(), *reasons), seal)
    if each:
        view = replace(view, spec=spec_with_each())
    suite = parse_junit(render_junit(view))
    assert bool(red(suite)) == (view.exit_code != 0)
    assert ("verdict" in red(suite)) == (view.exit_code != 0)
    assert suite[-1].attrib["name"] == "verdict"


def spec_with_each() -> Any:
    objectives = [{"name": "first-token", "sli": "ttft-p95", "bound": "<= 500ms", "at": {"dose": "all"}, "each": True}]
    return views.make_spec(objectives=objectives, fits=[])


@pytest.mark.parametrize(
    "found",
    [
        judged_run.verdict(),
        judged_run.verdict(estimates=judged_run.passing().model_copy(update={"objectives": ()})),
        judged_run.verdict(problems=("deploy failed",)),
        judged_run.verdict(subject=None),
        judged_run.objective("first-token", value=0.9, lower=0.8, upper=1.0),
        judged_run.objective("same-answers", lower=0.9, upper=1.0),
        judged_run.health(drift=("the controls drifted",)),
        judged_run.health(schedule_delay_p99=None),
        judged_run.steady(value=0.9, lower=0.8, upper=1.0),
        judged_run.witness(gone=False),
        judged_run.injection(halted="error-rate > 50 %"),
        judged_run.knee(lower=0.1),
    ],
    ids=lambda found: found.verdict,
)
def test_it_holds_for_what_judge_says(found: Verdict) -> None:
    suite = parse_junit(render_junit(sealed(replace(views.passing(), spec=judged_run.RUN.spec, verdict=found))))
    assert bool(red(suite)) == (found.exit_code != 0)
    skipped = {"pass": 0, "warn": 1}
    assert suite.attrib["skipped"] == str(skipped.get(found.verdict, suite.attrib["skipped"]))


@given(st.lists(REASONS, min_size=1, max_size=8))
def test_no_reason_is_lost(reasons: list[Reason]) -> None:
    numbered = [each.model_copy(update={"text": f"reason {place}."}) for place, each in enumerate(reasons)]
    *cases, verdict = cases_of(judged(views.passing(), *numbered))
    for each in numbered:
        line = f"{each.verdict}: {each.text}"
        assert sum(line in case.lines for case in cases) == 1
        assert line in verdict.lines


@pytest.mark.parametrize(
    ("verdict", "tag", "kind"),
    [
        ("fail", "failure", "fail"),
        ("inconclusive", "error", "inconclusive"),
        ("error", "error", "error"),
        ("warn", "skipped", None),
        ("pass", "system-out", None),
    ],
)
def test_how_an_objective_went_is_told_apart(
    passing: ReportView, verdict: VerdictName, tag: str, kind: str | None
) -> None:
    suite = parse_junit(render_junit(judged(passing, reason(verdict, "first-token"))))
    (found,) = case_named(suite, "first-token")
    assert (found.tag, found.get("type")) == (tag, kind)
    assert found.text == f"{verdict}: a {verdict}"


def test_the_cases_of_a_run() -> None:
    suite = parse_junit(render_junit(sealed(views.failing())))
    assert suite.attrib["name"] == "stream-degradation"
    assert [(case.get("classname"), case.get("name")) for case in suite.iter("testcase")] == [
        ("stream-degradation.steady-state", "error-rate <= 1 % at baseline"),
        ("stream-degradation.steady-state", "error-rate <= 1 % at recovery"),
        ("stream-degradation.fault.slow-wire", "first-token"),
        ("stream-degradation.fault.slow-wire", "same-answers"),
        ("stream-degradation.fit", "headroom"),
        ("stream-degradation.recovery", "back"),
        ("stream-degradation.run", "measurement"),
        ("stream-degradation.run", "cleanup"),
        ("stream-degradation.run", "verdict"),
    ]
    assert red(suite) == ["first-token", "verdict"]


def test_the_steady_state_has_a_case_before_and_after(passing: ReportView) -> None:
    before = reason("pass", at="baseline", bound="<= 1 %")
    after = reason("inconclusive", at="recovery", bound="<= 1 %")
    suite = parse_junit(render_junit(judged(passing, before, after)))
    assert case_named(suite, "error-rate <= 1 % at baseline")[0].tag == "system-out"
    assert case_named(suite, "error-rate <= 1 % at recovery")[0].get("type") == "inconclusive"


def test_what_stopped_a_block_has_its_own_case(passing: ReportView) -> None:
    suite = parse_junit(render_junit(judged(passing, reason("inconclusive", at="block1"), reason("pass"))))
    assert red(suite) == ["phase block1", "verdict"]
    assert case_named(suite, "measurement")[0].tag == "system-out"


def test_each_dose_has_its_case(passing: ReportView) -> None:
    doses = (reason("pass", "first-token", at="dose 100ms"), reason("fail", "first-token", at="dose 320ms"))
    suite = parse_junit(render_junit(judged(replace(passing, spec=spec_with_each()), *doses)))
    assert case_named(suite, "first-token at dose 100ms")[0].tag == "system-out"
    assert case_named(suite, "first-token at dose 320ms")[0].tag == "failure"


def test_what_was_never_judged_is_skipped_and_the_run_is_red() -> None:
    suite = parse_junit(render_junit(sealed(views.broken())))
    (found,) = case_named(suite, "first-token")
    assert (found.tag, found.get("message")) == ("skipped", "not judged: the verdict says nothing about it")
    assert red(suite) == ["measurement", "verdict"]


@pytest.mark.parametrize(
    ("seal", "said"),
    [
        (None, "not sealed when this was written: cleanup comes last"),
        (Cleanup(clean=False, actions=(), left=("engine (process 7)",)), "unclean: engine (process 7)"),
        (Cleanup(clean=False, actions=()), "unclean: nothing says what was left behind"),
    ],
)
def test_a_pass_whose_cleanup_is_not_proved_is_an_error(passing: ReportView, seal: Cleanup | None, said: str) -> None:
    suite = parse_junit(render_junit(sealed(passing, seal)))
    assert red(suite) == ["cleanup", "verdict"]
    assert case_named(suite, "cleanup")[0].text == said
    message = case_named(suite, "verdict")[0].attrib["message"]
    assert message == f"pass, exit code 4: the cleanup is not proved: {said}"


def test_the_properties_say_what_was_run_on_what() -> None:
    suite = parse_junit(render_junit(sealed(views.failing())))
    found = {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")}
    assert found["run"] == views.RUN
    assert found["specDigest"] == views.make_spec().digest()
    assert (found["verdict"], found["exitCode"]) == ("fail", "1")
    assert (found["subject.model"], found["subject.arguments.max_batch"]) == ("embedded/tiny", "8")
    assert (found["workload.arrivals.rate"], found["workload.seed"]) == ("20/s", "7")
    assert found["faults.slow-wire.dose.values"] == "100ms, 180ms, 220ms, 260ms, 320ms"
    assert found["environment.python"] == "3.11.9"


def test_times_are_the_run_s_duration_on_its_last_case() -> None:
    suite = parse_junit(render_junit(sealed(views.failing())))
    assert (suite.attrib["time"], suite.attrib["timestamp"]) == ("98.000", "2026-03-01T09:30:00")
    assert suite[-1].attrib["time"] == "98.000"
    assert parse_junit(render_junit(views.broken())).attrib["time"] == "0"


def test_hostile_text_cannot_break_out(passing: ReportView) -> None:
    subject = Subject.model_construct(model=HOSTILE, engine=HOSTILE, arguments={HOSTILE: HOSTILE})
    reasons = tuple(Reason.model_construct(verdict="fail", text=HOSTILE, objective=name) for name in OBJECTIVES)
    hostile = replace(passing, verdict=Verdict.model_construct(verdict="fail", reasons=reasons, subject=subject))
    plain = parse_junit(render_junit(judged(passing, *(reason("fail", name) for name in OBJECTIVES))))
    suite = parse_junit(render_junit(sealed(hostile)))
    assert red(suite) == red(plain)
    assert "</testcase>" in (case_named(suite, "first-token")[0].text or "")
    assert "\x1b" not in render_junit(sealed(hostile))


def test_equal_bytes_for_equal_input() -> None:
    assert render_junit(views.failing()) == render_junit(views.failing())
    assert render_junit(views.failing()).startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ')
