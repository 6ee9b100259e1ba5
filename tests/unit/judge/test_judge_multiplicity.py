from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from judged_run import objective, texts, verdict
from simulated_run import Conditions, Json, simulate, stream_spec

from chaosgate.estimate import estimate_run
from chaosgate.judge import judge
from chaosgate.judge.multiplicity import Judged, doubt, hold_fails
from chaosgate.model.result import Estimate, Fits, Reason, Verdict
from chaosgate.units import Bound

BOUND = Bound.parse("<= 100ms")


def interval(value: float | None, lower: float | None, upper: float | None) -> Estimate:
    return Estimate(
        sli="ttft-p95", at="recovery", place="recovery", dimension="duration", value=value, lower=lower, upper=upper
    )


def failing(name: str, p: float | None, verdict: Any = "fail", severity: Any = "gate") -> Judged:
    return Judged(Reason(verdict=verdict, text=f"{name} breaks", objective=name, severity=severity), p)


def verdicts(*found: Judged, on_uncertain: Any = "inconclusive") -> list[str]:
    return [reason.verdict for reason in hold_fails(found, on_uncertain)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # The near end at the bound is the level itself.
        (interval(0.12, 0.1, 0.15), 0.025),
        # Twice as far: 2 * 1.96 standard errors.
        (interval(0.14, 0.12, 0.2), 4.4e-5),
        (interval(0.1, 0.08, 0.2), 0.5),
        (interval(0.12, 0.12, 0.12), 0.0),
        (interval(0.08, 0.08, 0.08), 1.0),
        (interval(None, 0.2, None), None),
        (interval(0.12, None, 0.2), None),
        # Numbers that contradict one another tell nothing.
        (interval(0.09, 0.12, None), None),
    ],
)
def test_the_doubt_is_read_from_the_near_end(found: Estimate, expected: float | None) -> None:
    assert doubt(BOUND, found, None) == (None if expected is None else pytest.approx(expected, rel=0.02, abs=1e-9))


def test_the_near_end_of_a_bound_from_below_is_the_upper_one() -> None:
    assert doubt(Bound.parse(">= 100ms"), interval(0.08, 0.01, 0.1), None) == pytest.approx(0.025)


def test_few_degrees_of_freedom_leave_more_doubt_far_out() -> None:
    found = interval(0.14, 0.12, 0.2)

    # Student's one-sided tail on 2 degrees of freedom, (1 - t / sqrt(t^2 + 2)) / 2, at t = 2 * 4.3027.
    assert doubt(BOUND, found, 2) == pytest.approx(0.00662, abs=2e-5)
    assert doubt(BOUND, interval(0.12, 0.1, 0.2), 2) == pytest.approx(0.025)


def test_twenty_kept_objectives_of_few_windows_hardly_ever_fail() -> None:
    random = np.random.default_rng(1)
    failed = 0
    for _ in range(400):
        # Means of 5 normal windows whose true value is the bound itself, each with its t interval.
        values = random.normal(0.1, 0.01, (20, 5))
        means, halves = values.mean(axis=1), 2.7764 * values.std(axis=1, ddof=1) / np.sqrt(5)
        found = [interval(mean, mean - half, mean + half) for mean, half in zip(means, halves, strict=True)]
        judged = [
            failing(str(n), doubt(BOUND, one, 4), "fail" if (one.lower or 0) > 0.1 else "pass")
            for n, one in enumerate(found)
        ]
        failed += "fail" in verdicts(*judged)
    # 2.5 % and three standard errors; with the normal tail it is 12 %.
    assert failed / 400 < 0.05


def test_one_fail_among_many_may_be_chance() -> None:
    kept = [failing(f"kept-{number}", 0.9, "pass") for number in range(5)]

    assert verdicts(failing("one", 0.02)) == ["fail"]
    assert verdicts(failing("one", 0.02), *kept) == ["inconclusive", *["pass"] * 5]
    assert verdicts(failing("one", 0.004), *kept) == ["fail", *["pass"] * 5]


def test_several_fails_help_one_another_by_holm() -> None:
    # 0.001 * 3, 0.012 * 2 = 0.024, 0.024 * 1.
    assert verdicts(failing("a", 0.001), failing("b", 0.012), failing("c", 0.024)) == ["fail"] * 3
    beside = failing("b", 0.013), failing("c", 0.9, "pass")
    assert verdicts(failing("a", 0.001), *beside) == ["fail", "inconclusive", "pass"]


def test_what_is_uncertain_is_judged_as_the_gate_says() -> None:
    kept = failing("kept", 0.9, "pass")

    assert verdicts(failing("one", 0.02), kept, on_uncertain="warn")[0] == "warn"
    assert verdicts(failing("one", 0.02), kept, on_uncertain="fail")[0] == "fail"


def test_warnings_and_what_has_no_probability_are_not_counted() -> None:
    beside = [failing("w", 0.9, "warn", "warn"), failing("infinite", None), failing("missing", None, "inconclusive")]

    assert verdicts(failing("one", 0.02), *beside) == ["fail", "warn", "fail", "inconclusive"]


def test_the_reason_says_what_it_would_take() -> None:
    (reason, _) = hold_fails([failing("one", 0.02), failing("kept", 0.9, "pass")], "inconclusive")

    assert reason.text == (
        "one breaks by itself, but that may be chance among 2 judgements (p = 0.040 after Holm, 0.025 is needed); more "
        "requests or windows would tell"
    )


def test_a_clear_fail_of_a_run_stands_and_a_close_one_does_not() -> None:
    clear = objective("first-token", value=0.7, lower=0.6, upper=0.8)
    close = objective("first-token", value=0.6, lower=0.501, upper=0.8)

    assert clear.verdict == "fail"
    assert close.verdict == "inconclusive"
    assert any("chance among" in text for text in texts(close, "inconclusive"))
    assert verdict().verdict == "pass"


def judged(change: Json, conditions: Conditions | None = None) -> Verdict:
    run = simulate(stream_spec(fits=(), objectives=(change,)), conditions)
    return judge(run.spec, estimate_run(run), run.injections, Fits(fits=()), run.subject)


def of(found: Verdict, name: str) -> Reason:
    (reason,) = (reason for reason in found.reasons if reason.objective == name)
    return reason


RIGHT: Json = {"name": "right", "sli": "answer-accuracy", "change": ">= -5 %", "at": {"dose": "all"}}


def test_a_change_within_its_margin_passes() -> None:
    reason = of(judged(RIGHT), "right")

    assert reason.verdict == "pass"
    assert reason.bound == ">= -5 %"
    assert reason.text.startswith(
        "right: answer-accuracy at all doses of slow-wire changed prompt by prompt from the baseline, in percentage "
        "points, by 0 % ("
    )
    assert reason.text.endswith(", meets >= -5 %")


def test_a_change_beyond_its_margin_fails() -> None:
    assert of(judged(RIGHT, Conditions(wrong=0.2)), "right").verdict == "fail"


def test_a_change_at_its_margin_is_uncertain() -> None:
    assert of(judged(RIGHT, Conditions(wrong=0.05)), "right").verdict == "inconclusive"


def test_an_estimate_of_the_sli_itself_is_not_taken_for_its_change() -> None:
    run = simulate(stream_spec(fits=(), objectives=(RIGHT,)))
    estimates = estimate_run(run)
    (found,) = estimates.objectives
    plain = tuple(each.model_copy(update={"change": None}) for each in found.estimates)
    swapped = estimates.model_copy(update={"objectives": (found.model_copy(update={"estimates": plain}),)})
    result = judge(run.spec, swapped, run.injections, Fits(fits=()), run.subject)

    assert result.verdict == "error"
    assert of(result, "right").text == (
        "right: the estimate is of answer-accuracy itself, not of its change; estimate the run again"
    )
