"""An interval against its bound: objectives on SLIs and on fits."""

from __future__ import annotations

import math
from typing import Any

import pytest
from judged_run import knee, objective, passing, severity, texts, verdict
from simulated_run import stream_spec

from chaosgate.model.result import Fits
from chaosgate.units import format_value


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
    value, lower, upper = (format_value(n, "duration") for n in (estimate.value, estimate.lower, estimate.upper))
    assert reason.text == (
        f"first-token: ttft-p95 at dose <= 180ms of slow-wire is {value} "
        f"({lower} to {upper}, 305 requests in 8 windows), meets <= 500ms"
    )


def test_a_recovery_says_when_it_was_back() -> None:
    (text,) = [text for text in texts(verdict(), "pass") if text.startswith("back:")]

    assert "ttft-p95 at recovery, counted from 200ms after the last fault ended, is " in text


@pytest.mark.parametrize(
    ("update", "expected", "exit_code", "words"),
    [
        ({"lower": 0.6, "value": 0.7, "upper": 0.8}, "fail", 1, ", breaks <= 500ms"),
        ({"upper": 0.6}, "inconclusive", 3, ", which straddles <= 500ms; more requests or windows would narrow it"),
        ({"upper": None}, "inconclusive", 3, ", which may reach beyond <= 500ms"),
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


def test_more_failures_than_a_quantile_allows_fail_an_upper_bound() -> None:
    reason = "120 of 1200 requests failed and count as infinitely slow"
    found = objective("first-token", value=None, lower=None, upper=None, reason=reason, unbounded=True)

    assert (found.verdict, found.exit_code) == ("fail", 1)
    (text,) = texts(found, "fail")
    assert text.endswith(f" in 8 windows), breaks <= 500ms ({reason})")


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
        ({"lower": 0.18, "upper": 0.2}, "pass", "(1048 requests, fit knee); its lower end is judged, meets >= 180ms"),
        ({"lower": 0.1, "upper": 0.17}, "fail", "breaks >= 180ms"),
        ({"lower": 0.17, "upper": 0.2}, "inconclusive", "which straddles >= 180ms"),
        ({"lower": None, "upper": 0.2}, "inconclusive", "? to 200ms"),
        ({"lower": None, "upper": 0.17}, "fail", "breaks >= 180ms"),
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
