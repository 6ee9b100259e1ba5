from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tracked_runs import estimate

from chaosgate.model.fit import Threshold
from chaosgate.model.result import FitResult, InjectedWindow, SeriesPoint
from chaosgate.tracking.points import Point, of_estimates, of_fits, of_series


def window(on: float, off: float, dose: float = 0.1) -> InjectedWindow:
    return InjectedWindow(fault="slow-wire", window=0, dose=dose, on=on, off=off, applied=1)


def second(at: float, requests: int = 20, errors: int = 0) -> SeriesPoint:
    return SeriesPoint(at=at, requests=requests, errors=errors, ttft_p50=0.1, ttft_p99=None)


def test_an_estimate_gives_its_value_interval_and_n() -> None:
    assert list(of_estimates([estimate("baseline", 0.125, lower=0.11, upper=0.14)])) == [
        Point("baseline/ttft-p95_s", 0.125),
        Point("baseline/ttft-p95_s_lower", 0.11),
        Point("baseline/ttft-p95_s_upper", 0.14),
        Point("baseline/ttft-p95_s_n", 96.0),
    ]


def test_a_missing_estimate_and_an_open_interval_give_nothing() -> None:
    assert list(of_estimates([estimate("baseline", None)])) == []
    keys = [point.key for point in of_estimates([estimate("baseline", 0.1, lower=0.09, upper=None)])]
    assert keys == ["baseline/ttft-p95_s", "baseline/ttft-p95_s_lower", "baseline/ttft-p95_s_n"]


def test_a_change_does_not_overwrite_the_sli_itself() -> None:
    changed = estimate("recovery", 0.02, lower=None, upper=None)
    absolute = changed.model_copy(update={"change": "absolute"})
    relative = changed.model_copy(update={"change": "relative", "dimension": "share"})
    keys = [point.key for point in of_estimates([absolute, relative])]

    assert [key for key in keys if not key.endswith("_n")] == [
        "recovery/ttft-p95-change_s",
        "recovery/ttft-p95-change_share",
    ]


def test_nan_and_infinity_are_never_logged() -> None:
    broken = estimate("baseline", 0.1).model_copy(update={"value": float("nan"), "upper": float("inf")})
    assert [point.key for point in of_estimates([broken])] == ["baseline/ttft-p95_s_n"]


def test_a_refused_fit_gives_no_metric() -> None:
    refused = Threshold(outcome="refused", value=None, lower=None, upper=None, n=0, windows=0, reason="flat")
    fit = FitResult(name="knee", kind="logistic", fault="slow-wire", dimension="duration", threshold=refused)
    assert list(of_fits([fit])) == []


def test_a_bracketed_fit_gives_its_bracket_without_a_value() -> None:
    found = Threshold(outcome="bracketed", value=None, lower=0.18, upper=0.22, n=40, windows=6)
    fit = FitResult(name="knee", kind="logistic", fault="slow-wire", dimension="duration", threshold=found)
    assert list(of_fits([fit])) == [
        Point("fit/knee_lower", 0.18),
        Point("fit/knee_upper", 0.22),
        Point("fit/knee_n", 40),
    ]


def test_a_series_counts_seconds_from_the_first_window() -> None:
    points = list(
        of_series([second(float(at)) for at in range(12)], [window(4.5, 6.5), window(7.5, 9.5, 0.2)], "duration")
    )
    doses = {point.step: point.value for point in points if point.key == "series/dose_s"}
    assert doses == {0: 0.1, 1: 0.1, 2: 0.0, 3: 0.2, 4: 0.2}


def test_a_second_without_requests_has_no_error_rate() -> None:
    keys = {point.key for point in of_series([second(5.0, requests=0)], [window(4.0, 6.0)], "duration")}
    assert "series/error-rate_share" not in keys
    assert "series/requests_per_s" in keys


def test_a_fault_without_windows_has_no_series() -> None:
    assert list(of_series([second(1.0)], [], "duration")) == []


@given(st.lists(st.floats(0, 60), max_size=200))
def test_a_series_has_at_most_one_point_a_second(times: list[float]) -> None:
    points = list(of_series([second(at) for at in times], [window(3.0, 50.0)], "duration"))
    assert len({(point.key, point.step) for point in points}) == len(points)
    assert all(0 <= point.step <= 47 for point in points)
