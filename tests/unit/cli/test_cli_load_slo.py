"""What `--slo` says of a load: verdicts by intervals, and their broken twins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_requests import request

from chaosgate.cli.load_slo import Slo, judge, keeps, parse_slo, slo_words
from chaosgate.model.observation import Observation, RequestBound


def bound(text: str) -> RequestBound:
    found = parse_slo(text).bound
    assert isinstance(found, RequestBound)
    return found


def steady(count: int = 400, seconds: float = 10.0, **more: object) -> list[Observation]:
    return [request(scheduled=number * seconds / count, **more) for number in range(count)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("ttft-p95<=150ms", "kept"),
        ("ttft-p95<=50ms", "missed"),
        ("error-rate<=5%", "kept"),
        ("ttft<=150ms", "kept"),
        ("ttft<=50ms", "missed"),
        ("ttft-p99.9<=150ms", "unclear"),
    ],
)
def test_a_verdict_is_of_the_whole_interval(text: str, verdict: str) -> None:
    (found,) = judge([parse_slo(text)], 0.95, steady(), (0.0, 10.0))
    assert found.verdict == verdict


def test_an_interval_on_both_sides_tells_nothing() -> None:
    seen = [request(scheduled=number / 40, first=0.1 if number % 20 else 0.3, end=0.5) for number in range(400)]
    (found,) = judge([parse_slo("ttft<=200ms")], 0.95, seen, (0.0, 10.0))
    assert (found.verdict, found.value) == ("unclear", 0.95)


def test_bounds_on_requests_are_kept_together() -> None:
    slos = [parse_slo("ttft<=150ms"), parse_slo("e2e<=150ms"), parse_slo("error-rate<=5%")]
    errors, each = judge(slos, 0.95, steady(end=0.2), (0.0, 10.0))
    assert (errors.slo, errors.verdict) == ("error-rate<=5%", "kept")
    assert (each.slo, each.verdict, each.value) == ("ttft<=150ms, e2e<=150ms of 95 %", "missed", 0.0)


def test_failed_requests_keep_no_bound_and_cancelled_ones_do_not_count() -> None:
    assert not keeps(request(outcome="error"), [bound("ttft<=10s")])
    seen = steady() + [request(scheduled=number / 10, outcome="cancelled") for number in range(90)]
    (found,) = judge([parse_slo("ttft<=150ms")], 0.95, seen, (0.0, 10.0))
    assert (found.n, found.verdict) == (400, "kept")


def test_an_answer_without_text_is_not_good() -> None:
    assert keeps(request(), [bound("ttft<=10s")])
    assert not keeps(request(first=None), [bound("ttft<=10s")])


def test_a_failed_request_keeps_no_lower_bound_either() -> None:
    assert not keeps(request(outcome="error"), [bound("ttft>=1ms")])


def test_warm_up_is_not_judged() -> None:
    slow = [request(scheduled=number / 40, first=3.0, end=4.0, warmup=True) for number in range(200)]
    seen = slow + [request(scheduled=5.0 + number / 40) for number in range(200)]
    (found,) = judge([parse_slo("ttft<=150ms")], 0.95, seen, (5.0, 10.0))
    assert (found.n, found.verdict) == (200, "kept")


def test_nothing_is_judged_of_nothing() -> None:
    assert judge([], 0.95, steady(), (0.0, 10.0)) == []
    (found,) = judge([parse_slo("ttft<=150ms")], 0.95, [], (0.0, 10.0))
    assert (found.verdict, found.value) == ("unclear", None)


@given(st.integers(1, 400), st.floats(0.01, 0.99))
def test_no_bound_is_both_kept_and_missed(count: int, good: float) -> None:
    seen = [request(scheduled=number / 40, first=0.1 if number < count else 0.3, end=0.5) for number in range(400)]
    (found,) = judge([parse_slo("ttft<=200ms")], good, seen, (0.0, 10.0))
    assert found.value == pytest.approx(count / 400)
    assert found.verdict != "kept" or count / 400 >= good
    assert found.verdict != "missed" or count / 400 < good


def test_words() -> None:
    slo: Slo = parse_slo("ttft-p95<=150ms")
    (found,) = judge([slo], 0.95, steady(), (0.0, 10.0))
    assert slo_words(found) == "ttft-p95<=150ms: kept: 100ms (100ms to 100ms), n = 400"
