import math
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sli_samples import failing, sample, timed, window

from chaosgate.estimate.numbers import Numbers, estimate
from chaosgate.model.observation import Place, Sample, Window
from chaosgate.model.sli import Sli, SliRef, Statistic, resolve_sli
from chaosgate.units import Dimension

ERRORS, P95, P50 = resolve_sli("error-rate"), resolve_sli("ttft-p95"), resolve_sli("ttft-p50")
MATCH = resolve_sli("exact-match")


def latencies(windows: int, size: int, tau: float = 0.0, seed: int = 0, place: Place = "dose") -> list[Window]:
    """Windows of log-normal latencies of median 1 s; `tau` is the windows' part of the log's standard deviation 1."""
    random = np.random.default_rng(seed)
    shifts, noise = random.normal(0, tau, windows), math.sqrt(1 - tau**2)
    return [
        window((timed(float(value)) for value in np.exp(shift + random.normal(0, noise, size))), index, place=place)
        for index, shift in enumerate(shifts)
    ]


def test_a_share_is_pooled_over_windows_with_its_interval() -> None:
    found = estimate(ERRORS, [failing(1, 40, 0), failing(2, 40, 1), failing(6, 60, 2)])
    assert found.value == pytest.approx(9 / 140)
    assert (found.n, found.windows, found.reason) == (140, 3, None)
    assert found.lower is not None
    assert found.upper is not None
    assert 0 < found.lower < 9 / 140 < found.upper < 1


def test_a_quantile_is_an_order_statistic_of_all_values() -> None:
    windows = [window((timed((i * 40 + j + 1) / 1000) for j in range(40)), i) for i in range(3)]
    assert estimate(P95, windows).value == pytest.approx(0.114)
    assert estimate(P50, windows).value == pytest.approx(0.060)


def test_nothing_that_counts_is_no_zero() -> None:
    found = estimate(P95, [window([sample(first=None)] * 5, index) for index in range(3)])
    assert found == Numbers(None, None, None, 0, 0, "no request counts for ttft-p95 in 3 windows")


def test_a_quantile_counts_failed_requests_as_infinitely_slow() -> None:
    """One request in ten fails, the others are fast: a P95 among the fast ones alone would hide that."""
    found = estimate(P95, [failing(30, 300, index) for index in range(4)])
    reason = "120 of 1200 requests failed and count as infinitely slow"
    assert found == Numbers(None, None, None, 1200, 4, reason, unbounded=True, freedom=3)


def test_a_few_failed_requests_lift_a_quantile_and_leave_it_finite() -> None:
    slow = [window([timed(1.0)] * 270 + [timed(2.0)] * 27 + [sample(outcome="error")] * 3, index) for index in range(4)]
    found = estimate(P95, slow)
    assert (found.lower, found.value, found.upper, found.n, found.reason) == (2.0, 2.0, 2.0, 1200, None)


def test_failures_that_may_reach_the_quantile_leave_its_upper_end_open() -> None:
    found = estimate(P95, [failing(8, 200, index) for index in range(4)])
    assert (found.lower, found.value, found.upper) == (pytest.approx(0.2), pytest.approx(0.2), None)
    assert found.reason == "32 of 800 requests failed and count as infinitely slow"
    assert not found.unbounded


def test_failures_that_may_lie_beyond_the_quantile_leave_its_lower_end_finite() -> None:
    found = estimate(P95, [failing(12, 200, index) for index in range(4)])
    assert (found.lower, found.value, found.upper) == (pytest.approx(0.2), None, None)
    assert found.reason == "48 of 800 requests failed and count as infinitely slow"
    assert not found.unbounded


def test_failures_that_cluster_in_windows_are_no_sure_fail() -> None:
    """Spread evenly, this share of failures lies surely beyond the quantile; in two of six windows, it need not."""
    even, clustered = (
        [failing(failed, 120, i) for i, failed in enumerate(each)] for each in ([14] * 6, [42, 42] + [0] * 4)
    )
    assert estimate(P95, even).unbounded
    assert not estimate(P95, clustered).unbounded


def test_failures_among_too_few_values_are_said_as_well() -> None:
    found = estimate(P95, [failing(5, 10, index) for index in range(3)])
    assert found == Numbers(
        None,
        None,
        None,
        30,
        3,
        "15 of 30 requests failed and count as infinitely slow; n = 30 of 72 needed for a P95",
    )


def test_a_window_in_which_nothing_counts_leaves_no_interval() -> None:
    """Whole answers are compared with the clean arm; where no request has one, its window must not drop out unseen."""
    matching = [window([sample()] * 40, index) for index in range(6)]
    failed = [failing(40, 40, index) for index in (6, 7)]
    found = estimate(MATCH, [*matching, *failed])
    assert found == Numbers(1.0, None, None, 240, 6, "2 of 8 windows hold no request that counts for exact-match")


def test_undisturbed_windows_with_failures_are_still_borrowed() -> None:
    judged = latencies(3, 80, tau=0.4, seed=1)
    calm = [window([*each.samples, sample(outcome="error")], each.index, place="control") for each in latencies(6, 80)]
    assert estimate(P50, judged, [calm]) != estimate(P50, judged)


def test_no_windows_at_all() -> None:
    assert estimate(ERRORS, []).reason == "no request counts for error-rate in 0 windows"


def test_fewer_than_three_windows_have_a_value_and_no_interval() -> None:
    found = estimate(ERRORS, [failing(1, 40, 0), failing(1, 40, 1), window([], 2)])
    assert found.value == pytest.approx(1 / 40)
    assert (found.lower, found.upper) == (None, None)
    assert found.reason == "2 of 3 windows needed hold a request that counts for error-rate"


def test_too_few_values_for_a_quantile() -> None:
    found = estimate(P95, latencies(4, 10))
    assert found.value is not None
    assert (found.lower, found.upper) == (None, None)
    assert found.reason == "n = 40 of 72 needed for a P95"


def test_the_needed_number_is_enough_for_independent_requests() -> None:
    value = timed(1.0)
    found = estimate(P95, [window([value] * 24, index) for index in range(3)])
    assert (found.lower, found.value, found.upper, found.reason) == (1.0, 1.0, 1.0, None)


def test_noise_between_windows_opens_the_upper_end_and_says_so() -> None:
    found = estimate(P95, latencies(3, 40, tau=0.8, seed=4))
    assert found.upper is None
    assert found.lower is not None
    assert found.reason is not None
    assert found.reason.startswith("n_eff = ")
    assert " of 72 needed for the upper end of a P95: n = 120, design effect " in found.reason
    assert found.reason.endswith(" on 2 degrees of freedom")


def test_undisturbed_windows_narrow_a_quantile_of_three_windows() -> None:
    judged = latencies(3, 80, tau=0.4, seed=1)
    calm = [latencies(6, 80, seed=seed, place="control") for seed in (2, 3)]
    alone, helped = estimate(P50, judged), estimate(P50, judged, calm)
    assert alone.lower is not None
    assert alone.upper is not None
    assert helped.lower is not None
    assert helped.upper is not None
    assert helped.upper - helped.lower < alone.upper - alone.lower


def test_judged_windows_are_not_borrowed_from_themselves() -> None:
    judged = [failing(index + 1, 40, index, place="baseline") for index in range(3)]
    assert estimate(ERRORS, judged, [judged]) == estimate(ERRORS, judged)


def test_a_difference_between_doses_is_no_noise_between_windows() -> None:
    hits = [(0, 0.1), (1, 0.1), (0, 0.1), (20, 0.2), (21, 0.2), (20, 0.2)]
    strata = [failing(failed, 40, index, dose) for index, (failed, dose) in enumerate(hits)]
    mixed = [failing(failed, 40, index, 0.1) for index, (failed, _) in enumerate(hits)]
    by_dose, as_one = estimate(ERRORS, strata), estimate(ERRORS, mixed)
    assert by_dose.value == as_one.value
    assert by_dose.upper is not None
    assert as_one.upper is not None
    assert by_dose.upper < as_one.upper


def test_doses_of_one_window_each_are_taken_as_one_condition() -> None:
    hits = [1, 2, 3, 2, 1, 3]
    each = estimate(ERRORS, [failing(failed, 40, index, float(index)) for index, failed in enumerate(hits)])
    one = estimate(ERRORS, [failing(failed, 40, index, 0.1) for index, failed in enumerate(hits)])
    assert each == one


def test_the_same_arguments_give_the_same_numbers() -> None:
    windows = [failing(failed, 40, index) for index, failed in enumerate([1, 2, 9, 4, 3, 7, 2])]
    assert estimate(ERRORS, windows, seed=5) == estimate(ERRORS, windows, seed=5)


class Broken(Sli):
    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "share"
    number: ClassVar[float] = math.nan

    @staticmethod
    def value(sample: Sample) -> float | None:
        return Broken.number


@pytest.mark.parametrize(
    ("number", "value", "reason"),
    [
        (-math.inf, None, "broken gave a value that is not finite; an SLI gives a number or None"),
        (math.nan, None, "broken gave a value that is not finite; an SLI gives a number or None"),
        (math.inf, None, "broken gave a value that is not finite; an SLI gives a number or None"),
        (0.5, 0.5, "broken gave a value other than 0 and 1; a share is the mean of zeros and ones"),
    ],
)
def test_a_broken_sli_never_has_an_interval(
    number: float, value: float | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Broken, "number", number)
    found = estimate(SliRef("broken", Broken, None), [window([sample()] * 40, index) for index in range(3)])
    assert found == Numbers(value, None, None, 120, 3, reason)


def timed_or_failed(seconds: float) -> Sample:
    return timed(seconds) if math.isfinite(seconds) else sample(outcome="timeout")


@settings(max_examples=60)
@given(
    values=st.lists(st.lists(st.floats(0.001, 10) | st.just(math.inf), max_size=60), max_size=8),
    name=st.sampled_from(["ttft-p5", "ttft-p50", "ttft-p95", "error-rate"]),
)
def test_any_windows_give_ordered_finite_numbers_or_a_reason(values: list[list[float]], name: str) -> None:
    windows = [window(map(timed_or_failed, row), index) for index, row in enumerate(values)]
    found = estimate(resolve_sli(name), windows, [windows[:2]])
    numbers = [number for number in (found.lower, found.value, found.upper) if number is not None]
    assert all(math.isfinite(number) for number in numbers)
    assert numbers == sorted(numbers)
    assert (found.reason is None) == (len(numbers) == 3)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize(
    ("windows", "tau", "ref", "least"),
    [
        (3, 0.0, P50, 0.94),
        (4, 0.0, P95, 0.95),
        (6, 0.0, P95, 0.95),
        (12, 0.0, P50, 0.93),
        (3, 0.3, P50, 0.93),
        (4, 0.3, P95, 0.94),
        (6, 0.3, P50, 0.92),
        (12, 0.3, P95, 0.93),
    ],
)
def test_coverage_of_quantiles(windows: int, tau: float, ref: SliRef, least: float) -> None:
    truth, covered, repeats = math.exp(stats.norm.ppf(ref.quantile)), 0, 60
    for seed in range(repeats):
        calm = [latencies(6, 80, tau, 7000 + 2 * seed + half, "control") for half in (0, 1)]
        found = estimate(ref, latencies(windows, 80, tau, seed), calm)
        assert found.lower is not None
        covered += found.lower <= truth <= (math.inf if found.upper is None else found.upper)
    # The bound leaves room for two standard errors of so few repetitions.
    assert covered / repeats >= least - 2 * math.sqrt(least * (1 - least) / repeats)
