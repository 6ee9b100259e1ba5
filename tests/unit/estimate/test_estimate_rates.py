"""Rates and gaps over windows, with their intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from simulated_run import OBJECTIVES, simulate, stream_spec
from sli_samples import failing, sample, window

from chaosgate.estimate import estimate_run
from chaosgate.estimate.drift import find_drift
from chaosgate.estimate.numbers import estimate
from chaosgate.estimate.windows import place_requests
from chaosgate.model.observation import Observation, RequestBound, Sample, Window
from chaosgate.model.sli import resolve_sli
from chaosgate.units import Bound

REQUESTS, TOKENS, GOOD = resolve_sli("request-rate"), resolve_sli("tokens-per-second"), resolve_sli("goodput")
GAPS, P99_GAPS = resolve_sli("itl-p50"), resolve_sli("itl-p99")


def streamed(gaps: list[float], outcome: str = "ok", due: float = 0.0, **changed: Any) -> Sample:
    """A request whose first token comes at once and the next after each of `gaps`."""
    times = [due + float(sum(gaps[:count])) for count in range(len(gaps) + 1)]
    base = sample(scheduled=due).observation
    fields = {"sent": due, "first": times[0], "tokens": tuple(times), "end": times[-1], "outcome": outcome}
    return Sample(Observation.model_validate(base.model_dump() | fields | changed), None)


def test_a_rate_is_a_sum_over_the_windows_length() -> None:
    """Windows of 1 s: 40 requests less 1, 2 and 3 failures."""
    found = estimate(REQUESTS, [failing(1, 40, 0), failing(2, 40, 1), failing(3, 40, 2)])
    assert (found.value, found.n, found.windows, found.reason) == (pytest.approx(114 / 3), 120, 3, None)
    assert found.lower is not None
    assert found.upper is not None
    assert 30 < found.lower < 38 < found.upper < 46


def test_tokens_are_counted_as_the_server_does() -> None:
    windows = [window([streamed([0.1, 0.1], claimed=7)] * 5, index) for index in range(3)]
    assert estimate(TOKENS, windows).value == 35


def test_goodput_reads_the_bounds_of_the_spec() -> None:
    slo = (RequestBound(sli="itl", bound=Bound.parse("<= 150ms")),)
    quick, slow = streamed([0.1, 0.1]), streamed([0.1, 0.2])
    windows = [window([Sample(each.observation, None, slo) for each in (quick, quick, slow)], i) for i in range(3)]
    assert estimate(GOOD, windows).value == 2
    assert estimate(GOOD, [window([quick] * 3, i) for i in range(3)]).reason == (
        "no request counts for goodput in 3 windows"
    )


def test_a_window_in_which_nothing_arrived_is_a_rate_of_nothing() -> None:
    found = estimate(REQUESTS, [failing(0, 30, 0), window([], 1), failing(0, 30, 2)])
    assert (found.value, found.windows, found.reason) == (20, 2, None)
    assert found.lower is not None
    assert found.lower < 5


def test_a_service_that_answers_nothing_has_a_rate_of_nothing_with_an_upper_end() -> None:
    found = estimate(REQUESTS, [failing(40, 40, index) for index in range(3)])
    assert (found.value, found.lower) == (0, 0)
    assert found.upper == pytest.approx(stats.norm.ppf(0.975) ** 2 / 3)


@pytest.mark.parametrize(
    ("windows", "reason"),
    [
        ([], "no request counts for request-rate in 0 windows"),
        ([window([], 0)] * 3, "no request counts for request-rate in 3 windows"),
        ([failing(0, 30, 0), failing(0, 30, 1)], "2 of 3 windows needed for request-rate"),
    ],
)
def test_what_has_no_rate_says_why(windows: list[Window], reason: str) -> None:
    found = estimate(REQUESTS, windows)
    assert (found.value, found.lower, found.upper, found.reason) == (None, None, None, reason)


def test_gaps_of_all_requests_are_pooled() -> None:
    """20 gaps of 0.125 s and 10 of 0.25 s in each window, from answers of different lengths."""
    answers = [streamed([0.125] * 4)] * 5 + [streamed([0.25] * 2)] * 5
    found = estimate(GAPS, [window(answers, index) for index in range(3)])
    assert (found.value, found.n) == (0.125, 90)


def test_a_failed_request_is_one_infinite_gap() -> None:
    answers = [streamed([0.125] * 99)] * 4 + [streamed([0.125] * 3, "cut")] * 8
    found = estimate(P99_GAPS, [window(answers, index) for index in range(3)])
    assert found.n == 3 * (4 * 99 + 8)
    assert (found.value, found.unbounded) == (None, True)
    assert found.reason == "24 of 1212 gaps are of requests that failed and count as infinitely slow"


@settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from(["ok", "cut", "cancelled"]), max_size=30), max_size=8))
def test_cancelled_requests_change_no_number(outcomes: list[list[str]]) -> None:
    def windows(dropped: set[str]) -> list[Window]:
        kept = [[streamed([0.1], each) for each in row if each not in dropped] for row in outcomes]
        return [window(samples, index) for index, samples in enumerate(kept)]

    for name in ("itl-p50", "request-rate", "tokens-per-second", "error-rate"):
        ref = resolve_sli(name)
        assert estimate(ref, windows(set())) == estimate(ref, windows({"cancelled"}))


@pytest.mark.parametrize("tau", [0.0, 0.2])
def test_coverage_of_pooled_gaps(tau: float) -> None:
    """Windows share a weather of log-normal spread `tau`; answers of one window have ten gaps each."""
    truth, covered, repeats = 1.0, 0, 60
    for seed in range(repeats):
        random = np.random.default_rng(seed)
        found = estimate(GAPS, gap_windows(random, 6, tau), [gap_windows(random, 6, tau), gap_windows(random, 6, tau)])
        assert found.lower is not None
        covered += found.lower <= truth <= (math.inf if found.upper is None else found.upper)
    assert covered / repeats >= 0.92 - 2 * math.sqrt(0.92 * 0.08 / repeats)


def gap_windows(random: np.random.Generator, count: int, tau: float) -> list[Window]:
    shifts, noise = random.normal(0, tau, count), math.sqrt(1 - tau**2)
    return [
        window((streamed(np.exp(shift + random.normal(0, noise, 10)).tolist()) for _ in range(8)), index)
        for index, shift in enumerate(shifts)
    ]


RATE = {"name": "enough", "sli": "request-rate", "bound": ">= 5/s", "at": {"dose": "all"}}


def test_a_run_is_judged_by_a_rate() -> None:
    run = simulate(stream_spec(objectives=(OBJECTIVES[0], RATE)))
    found = {each.objective: each for each in estimate_run(run).objectives}["enough"]
    (judged,) = found.estimates
    assert judged.dimension == "rate"
    assert judged.lower is not None
    assert judged.upper is not None
    assert judged.value is not None
    assert judged.lower < judged.value < judged.upper


def test_a_rate_that_changes_between_controls_drifts() -> None:
    run = simulate(stream_spec(fits=(), objectives=(RATE,)))
    placed = place_requests(run)
    assert list(find_drift(run.spec, placed)) == []
    windows = placed.sweeps["slow-wire"]
    last = [w for w in windows if w.dose == 0][-2:]
    broken = {w.index: failed_window(w) for w in last}
    sweep = tuple(broken.get(w.index, w) for w in windows)
    (sentence,) = find_drift(run.spec, replace(placed, sweeps={"slow-wire": sweep}))
    assert sentence.startswith("slow-wire: the controls drifted: request-rate was ")
    assert " in the first, 0/s (0/s to " in sentence


def failed_window(whole: Window) -> Window:
    seen = [each.observation.model_copy(update={"outcome": "cut"}) for each in whole.samples]
    return replace(whole, samples=tuple(Sample(each, None) for each in seen))
