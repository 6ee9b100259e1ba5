"""Each rule of the verdict, on the estimates of a passing run with one thing changed."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest
from simulated_run import LATENCY, OBJECTIVES, SUBJECT, passing_fits, passing_run, stream_spec

from chaosgate.estimate import estimate_run
from chaosgate.judge import judge
from chaosgate.judge.reasons import worst
from chaosgate.model.fit import Threshold
from chaosgate.model.result import Estimates, Fits, Injection, Reason, Status, Verdict
from chaosgate.model.spec import ChaosSpec

RUN = passing_run()


@cache
def passing() -> Estimates:
    return estimate_run(RUN)


def verdict(estimates: Estimates | None = None, **other: Any) -> Verdict:
    given: dict[str, Any] = {
        "spec": RUN.spec,
        "estimates": estimates or passing(),
        "injections": RUN.injections,
        "fits": passing_fits(),
        "subject": SUBJECT,
        "problems": (),
    }
    return judge(**{**given, **other})


def texts(found: Verdict, name: str) -> list[str]:
    return [reason.text for reason in found.reasons if reason.verdict == name]


def objective(name: str, spec: ChaosSpec | None = None, **update: Any) -> Verdict:
    """The verdict when the estimates of one objective are changed."""
    objectives = tuple(
        each.model_copy(update={"estimates": tuple(e.model_copy(update=update) for e in each.estimates)})
        if each.objective == name
        else each
        for each in passing().objectives
    )
    return verdict(passing().model_copy(update={"objectives": objectives}), spec=spec or RUN.spec)


def health(**update: Any) -> Verdict:
    return verdict(passing().model_copy(update={"health": passing().health.model_copy(update=update)}))


def witness(**update: Any) -> Verdict:
    (reading,) = passing().witnesses
    return verdict(passing().model_copy(update={"witnesses": (reading.model_copy(update=update),)}))


def steady(**update: Any) -> Verdict:
    first, *rest = passing().steady_state
    return verdict(passing().model_copy(update={"steady_state": (first.model_copy(update=update), *rest)}))


def injection(**update: Any) -> Verdict:
    return verdict(injections={"block1": RUN.injections["block1"].model_copy(update=update)})


def knee(spec: ChaosSpec | None = None, **update: Any) -> Verdict:
    (fit,) = passing_fits().fits
    changed = fit.model_copy(update={"threshold": fit.threshold.model_copy(update=update)})
    return verdict(fits=Fits(fits=(changed,)), spec=spec or RUN.spec)


def severity(name: str, level: str, on_uncertain: str = "inconclusive", **update: Any) -> ChaosSpec:
    """The spec with one objective at another severity."""
    objectives = tuple({**o, "severity": level, **update} if o["name"] == name else o for o in OBJECTIVES)
    return stream_spec(objectives=objectives, on_uncertain=on_uncertain)


def test_a_passing_run_gives_a_reason_for_everything() -> None:
    found = verdict()

    assert (found.verdict, found.exit_code, found.subject) == ("pass", 0, SUBJECT)
    assert [reason.objective for reason in found.reasons] == [
        *(None,) * 4,
        "first-token",
        "same-answers",
        "headroom",
        "back",
    ]
    assert {reason.verdict for reason in found.reasons} == {"pass"}


def test_a_reason_carries_its_numbers_and_says_them_in_words() -> None:
    found = verdict()
    (reason,) = [reason for reason in found.reasons if reason.objective == "first-token"]
    (estimate,) = passing().objectives[0].estimates

    assert (reason.value, reason.lower, reason.upper, reason.n) == (
        estimate.value,
        estimate.lower,
        estimate.upper,
        estimate.n,
    )
    assert (reason.at, reason.bound, reason.dimension, reason.severity) == (
        "dose <= 180ms",
        "<= 500ms",
        "duration",
        "gate",
    )
    assert reason.text == (
        "first-token: ttft-p95 at dose <= 180ms of slow-wire is 229.1ms "
        "(223.4ms to 243.7ms, 305 requests in 8 windows), within <= 500ms"
    )


def test_a_recovery_says_when_it_was_back() -> None:
    (text,) = [text for text in texts(verdict(), "pass") if text.startswith("back:")]

    assert "ttft-p95 at recovery from 0.2 s after the last fault on is " in text


@pytest.mark.parametrize(
    ("update", "expected", "exit_code", "words"),
    [
        ({"lower": 0.6, "value": 0.7, "upper": 0.8}, "fail", 1, ", outside <= 500ms"),
        ({"upper": 0.6}, "inconclusive", 3, ", which straddles <= 500ms; more requests or windows would narrow it"),
        ({"upper": None}, "inconclusive", 3, ", which cannot be held against <= 500ms"),
        ({"lower": None}, "inconclusive", 3, "(? to "),
        ({"lower": 0.6, "upper": None}, "fail", 1, "(600ms to ?, "),
        ({"value": None}, "inconclusive", 3, "is - ("),
        ({"value": math.nan}, "inconclusive", 3, "is - ("),
        ({"upper": math.nan}, "inconclusive", 3, " to ?, "),
        ({"upper": math.inf}, "inconclusive", 3, " to ?, "),
        ({"n": 0}, "inconclusive", 3, "0 requests"),
        (
            {"windows": 2},
            "inconclusive",
            3,
            "in 2 windows), which cannot be held against <= 500ms (3 windows are needed)",
        ),
        (
            {"upper": None, "reason": "n = 70 of 72 needed for a P95"},
            "inconclusive",
            3,
            "(n = 70 of 72 needed for a P95)",
        ),
        ({"sli": "ttft-p50"}, "error", 3, "first-token: the estimate is of ttft-p50, not of ttft-p95"),
    ],
)
def test_a_gate_objective(update: dict[str, Any], expected: str, exit_code: int, words: str) -> None:
    found = objective("first-token", **update)

    assert (found.verdict, found.exit_code) == (expected, exit_code)
    (text,) = texts(found, expected)
    assert words in text


@pytest.mark.parametrize("update", [{"lower": 0.6, "value": 0.7, "upper": 0.8}, {"upper": 0.6}, {"upper": None}])
def test_a_warn_objective_gives_at_most_warn(update: dict[str, Any]) -> None:
    found = objective("first-token", spec=severity("first-token", "warn"), **update)

    assert (found.verdict, found.exit_code) == ("warn", 0)
    assert len(texts(found, "warn")) == 1


@pytest.mark.parametrize(("on_uncertain", "exit_code"), [("inconclusive", 3), ("fail", 1), ("warn", 0)])
def test_the_gate_says_what_becomes_of_a_straddling_interval(on_uncertain: str, exit_code: int) -> None:
    found = objective("first-token", spec=stream_spec(on_uncertain=on_uncertain), upper=0.6)

    assert (found.verdict, found.exit_code) == (on_uncertain, exit_code)


def test_a_missing_interval_is_inconclusive_whatever_the_gate_says() -> None:
    found = objective("first-token", spec=stream_spec(on_uncertain="warn"), upper=None)

    assert found.verdict == "inconclusive"


def test_each_estimate_of_an_objective_has_a_reason() -> None:
    first, *rest = passing().objectives
    (estimate,) = first.estimates
    two = first.model_copy(
        update={"estimates": (estimate, estimate.model_copy(update={"lower": 0.6, "value": 0.7, "upper": 0.8}))}
    )
    found = verdict(passing().model_copy(update={"objectives": (two, *rest)}))

    assert [r.verdict for r in found.reasons if r.objective == "first-token"] == ["pass", "fail"]
    assert found.verdict == "fail"


@pytest.mark.parametrize("objectives", [(), passing().objectives[1:]])
def test_an_objective_without_an_estimate_is_an_error(objectives: tuple[Any, ...]) -> None:
    found = verdict(passing().model_copy(update={"objectives": objectives}))

    assert (found.verdict, found.exit_code) == ("error", 3)
    assert "first-token: nothing was estimated for it; estimate the run again" in texts(found, "error")


@pytest.mark.parametrize(
    ("threshold", "expected", "words"),
    [
        ({"lower": 0.18, "upper": 0.2}, "pass", "(1048 requests, fit knee); its lower end is judged, within >= 180ms"),
        ({"lower": 0.1, "upper": 0.17}, "fail", "outside >= 180ms"),
        ({"lower": 0.17, "upper": 0.2}, "inconclusive", "which straddles >= 180ms"),
        ({"lower": None, "upper": 0.2}, "inconclusive", "? to 200ms"),
        ({"lower": None, "upper": 0.17}, "fail", "outside >= 180ms"),
        ({"lower": math.nan, "upper": 0.2}, "inconclusive", "? to 200ms"),
        ({"lower": 0.3, "upper": 0.2}, "inconclusive", "which cannot be held against >= 180ms"),
        ({"n": 0}, "inconclusive", "0 requests"),
        (
            {"outcome": "bracketed", "value": None, "lower": 0.18, "upper": None},
            "pass",
            "the threshold lies within 180ms to ?",
        ),
        ({"outcome": "bracketed", "value": None, "lower": 0.1, "upper": 0.18}, "inconclusive", "straddles >= 180ms"),
        (
            {"outcome": "refused", "reason": "no dose reached 5 %"},
            "inconclusive",
            "headroom: fit knee found no threshold (no dose reached 5 %)",
        ),
    ],
)
def test_the_lower_end_of_a_fit(threshold: dict[str, Any], expected: str, words: str) -> None:
    found = knee(spec=severity("headroom", "gate"), **threshold)

    assert found.verdict == expected
    (text,) = [reason.text for reason in found.reasons if reason.objective == "headroom"]
    assert words in text


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (0.2, 0.3, "pass"),
        (0.2, 0.31, "inconclusive"),
        (0.31, 0.4, "fail"),
        (0.2, None, "inconclusive"),
        (0.31, None, "fail"),
    ],
)
def test_the_upper_end_of_a_fit(lower: float | None, upper: float | None, expected: str) -> None:
    spec = severity("headroom", "gate", lower=None, upper="<= 300ms")

    assert knee(spec=spec, lower=lower, upper=upper).verdict == expected


def test_a_fit_that_only_warns() -> None:
    assert knee(lower=0.1, upper=0.17).verdict == "warn"


def test_missing_thresholds_are_an_error() -> None:
    for fits in (None, Fits(fits=())):
        found = verdict(fits=fits)
        assert found.verdict == "error"
        assert "the thresholds do not belong to the spec's fits; fit the run again" in texts(found, "error")
        assert "headroom: nothing was estimated for it; estimate the run again" in texts(found, "error")


@pytest.mark.parametrize(
    ("update", "expected", "words"),
    [
        ({"lower": 0.01, "value": 0.04, "upper": 0.08}, "pass", "steady state holds: "),
        ({"lower": 0.06, "value": 0.07, "upper": 0.08}, "inconclusive", "steady state does not hold: "),
        ({"value": None, "lower": None, "upper": None}, "inconclusive", "steady state is not known to hold: "),
        ({"upper": None}, "inconclusive", "steady state is not known to hold: "),
        ({"windows": 2}, "inconclusive", "steady state is not known to hold: "),
        ({"sli": "ttft-p50"}, "error", "the estimates of the steady state do not belong to the spec's"),
    ],
)
def test_the_steady_state(update: dict[str, Any], expected: str, words: str) -> None:
    found = steady(**update)

    assert found.verdict == expected
    assert any(text.startswith(words) for text in texts(found, expected))
    assert expected != "inconclusive" or texts(found, expected)[0].endswith(": unhealthy baseline")


@pytest.mark.parametrize("delay", [0.0, 0.05])
def test_a_client_on_schedule(delay: float) -> None:
    assert health(schedule_delay_p99=delay).verdict == "pass"


@pytest.mark.parametrize(
    ("update", "expected", "text"),
    [
        (
            {"schedule_delay_p99": 0.051},
            "inconclusive",
            "late load generator: its P99 schedule delay is 51ms, 50ms is allowed; give it more CPU or less load",
        ),
        (
            {"schedule_delay_p99": None},
            "inconclusive",
            "the load generator's delay is unknown: no request was measured",
        ),
        (
            {"schedule_delay_p99": math.nan},
            "inconclusive",
            "the load generator's delay is unknown: no request was measured",
        ),
        ({"drift": ("it drifted",)}, "inconclusive", "it drifted"),
        ({"gaps": ("a window is missing",)}, "inconclusive", "a window is missing"),
        ({"problems": ("a line is missing",)}, "error", "a line is missing"),
        ({"subject_changed": "model was a"}, "error", "the subject changed during the run: model was a"),
    ],
)
def test_a_measurement_that_cannot_be_trusted(update: dict[str, Any], expected: str, text: str) -> None:
    found = health(**update)

    assert (found.verdict, found.exit_code) == (expected, 3)
    assert texts(found, expected) == [text]


@pytest.mark.parametrize(
    ("update", "text"),
    [
        ({"applied": 0, "bitten": False, "reason": "touched nothing"}, "slow-wire touched nothing"),
        ({"applied": 0}, "slow-wire was not shown to come and go: "),
        ({"bitten": False, "reason": "was not seen"}, "slow-wire was not seen"),
        ({"gone": False, "reason": "is not gone"}, "slow-wire is not gone"),
        ({"after": None}, "slow-wire was not shown to come and go: "),
        ({"during": math.nan}, "slow-wire was not shown to come and go: "),
    ],
)
def test_a_fault_that_was_not_shown_to_come_and_go(update: dict[str, Any], text: str) -> None:
    found = witness(**update)

    assert found.verdict == "inconclusive"
    assert texts(found, "inconclusive")[0].startswith(text)


def test_a_fault_without_a_witness_is_an_error() -> None:
    found = verdict(passing().model_copy(update={"witnesses": ()}))

    assert texts(found, "error") == ["slow-wire: 0 witness readings; 1 is needed: estimate the run again"]


DECLINED = Status(status="declined", reason="the baseline is unhealthy")
FAILED = Status(status="failed", reason="the gateway is gone")


@pytest.mark.parametrize(
    ("update", "expected", "text"),
    [
        (
            {"status": DECLINED, "windows": ()},
            "inconclusive",
            "nothing was injected in block1: the baseline is unhealthy",
        ),
        ({"status": FAILED}, "error", "injection failed in block1: the gateway is gone"),
        ({"status": Status(status="failed")}, "error", "injection failed in block1: no reason was given"),
        ({"halted": "error-rate > 50 %"}, "inconclusive", "the run was halted in block1: error-rate > 50 %"),
        (
            {"windows": RUN.injections["block1"].windows[:-1]},
            "inconclusive",
            "slow-wire: not every planned window was injected: 5 of 6 at 0s",
        ),
    ],
)
def test_what_became_of_the_injection(update: dict[str, Any], expected: str, text: str) -> None:
    found = injection(**update)

    assert (found.verdict, found.exit_code) == (expected, 3)
    assert texts(found, expected) == [text]


def test_without_an_injection_nothing_can_be_said() -> None:
    found = verdict(injections={})

    assert texts(found, "error") == ["nothing says what was injected; the inject step left no injection.json"]
    assert found.verdict == "error"


def test_the_injection_of_one_fault_does_not_stand_for_another() -> None:
    spec = stream_spec(faults=(LATENCY, {**LATENCY, "name": "other-wire"}), objectives=OBJECTIVES)
    found = verdict(spec=spec)

    assert found.verdict == "error"
    assert any(
        text.startswith("other-wire: not every planned window was injected: 0 of 6 at 0s, 0 of 4 at 100ms")
        for text in texts(found, "inconclusive")
    )


def test_a_halted_run_can_still_fail() -> None:
    halted: dict[str, Injection] = {"block1": RUN.injections["block1"].model_copy(update={"halted": "too many errors"})}
    failing = passing().model_copy(
        update={
            "objectives": tuple(
                each.model_copy(
                    update={
                        "estimates": tuple(
                            e.model_copy(update={"lower": 0.6, "value": 0.7, "upper": 0.8}) for e in each.estimates
                        )
                    }
                )
                for each in passing().objectives
                if each.objective == "first-token"
            )
            + passing().objectives[1:]
        }
    )
    found = verdict(failing, injections=halted)

    assert (found.verdict, found.exit_code) == ("fail", 1)
    assert texts(found, "inconclusive") == ["the run was halted in block1: too many errors"]


def test_what_could_not_be_read_is_an_error() -> None:
    found = verdict(problems=("ledger.jsonl: is incomplete", "deploy failed: no port"))

    assert (found.verdict, found.exit_code) == ("error", 3)
    assert texts(found, "error") == ["ledger.jsonl: is incomplete", "deploy failed: no port"]


def test_without_estimates_there_is_nothing_to_judge() -> None:
    found = judge(RUN.spec, None, {}, None, None, ["endpoint.json: is missing"])

    assert texts(found, "error") == [
        "endpoint.json: is missing",
        "it is not known what was tested: deploy recorded no subject",
        "nothing says what was injected; the inject step left no injection.json",
        "there are no estimates: the data of the run could not be read",
    ]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["pass", "warn", "inconclusive", "fail", "error"], "error"),
        (["pass", "inconclusive", "fail"], "fail"),
        (["warn", "inconclusive", "pass"], "inconclusive"),
        (["pass", "warn"], "warn"),
        (["pass"], "pass"),
        ([], "error"),
    ],
)
def test_the_verdict_is_the_worst_of_its_reasons(verdicts: list[Any], expected: str) -> None:
    assert worst(Reason(verdict=each, text="") for each in verdicts) == expected


def test_a_verdict_can_be_written() -> None:
    found = objective("first-token", value=math.nan, lower=math.nan, upper=math.inf)

    assert Verdict.model_validate_json(found.model_dump_json()) == found


def test_a_threshold_that_is_no_number_can_be_written() -> None:
    found = knee(value=math.nan, lower=math.nan, upper=math.inf)

    assert Verdict.model_validate_json(found.model_dump_json()) == found
    assert isinstance(passing_fits().fits[0].threshold, Threshold)
