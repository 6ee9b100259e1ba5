"""Arrivals are an open loop: exponential gaps, Poisson counts, the same for the same seed, unaware of anything else."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from scipy import stats

from chaosgate.errors import UsageError
from chaosgate.loadgen.arrivals import scheduled_times
from chaosgate.model.request_id import request_id


def test_constant_arrivals_are_equally_spaced_from_zero_on() -> None:
    assert list(scheduled_times("constant", 4, 1.0, 7, "baseline")) == [0.0, 0.25, 0.5, 0.75]


def test_constant_arrivals_do_not_drift() -> None:
    late = list(scheduled_times("constant", 30, 1000.0, 7, "baseline"))
    assert len(late) == 30_000
    assert late[-1] == 29_999 / 30


def test_poisson_gaps_are_exponential() -> None:
    times = list(scheduled_times("poisson", 20, 500.0, 7, "block1"))
    gaps = np.diff([0.0, *times])
    assert stats.kstest(gaps, "expon", args=(0, 1 / 20)).pvalue > 0.01


def test_poisson_counts_are_as_dispersed_as_poisson_counts() -> None:
    times = list(scheduled_times("poisson", 20, 500.0, 7, "block1"))
    counts = np.bincount(np.floor(times).astype(int), minlength=500)
    dispersion = counts.var(ddof=1) / counts.mean()
    low, high = stats.chi2.ppf([0.005, 0.995], 499) / 499
    assert low < dispersion < high


def test_neighbouring_gaps_are_independent() -> None:
    times = list(scheduled_times("poisson", 20, 500.0, 7, "block1"))
    gaps = np.diff([0.0, *times])
    correlation = np.corrcoef(gaps[:-1], gaps[1:])[0, 1]
    assert abs(correlation) < 3 / np.sqrt(len(gaps))


def test_times_depend_on_seed_and_phase_only() -> None:
    def first(seed: int, phase: str, seconds: float = 60.0) -> list[float]:
        return list(islice(scheduled_times("poisson", 20, seconds, seed, phase), 100))

    assert first(7, "block1") == first(7, "block1")
    assert first(7, "block1") == first(7, "block1", seconds=3600.0)
    assert first(7, "block1") != first(8, "block1")
    assert first(7, "block1") != first(7, "block2")


def test_the_rate_scales_the_same_gaps() -> None:
    slow = list(islice(scheduled_times("poisson", 10, 60.0, 7, "block1"), 50))
    fast = list(islice(scheduled_times("poisson", 20, 60.0, 7, "block1"), 50))
    assert slow == pytest.approx([2 * time for time in fast])


def test_times_ascend_and_end_before_the_planned_end() -> None:
    times = list(scheduled_times("poisson", 50, 10.0, 3, "verify"))
    assert all(earlier < later for earlier, later in pairwise(times))
    assert times[0] > 0
    assert times[-1] < 10.0


def test_no_seconds_have_no_arrivals() -> None:
    assert list(scheduled_times("constant", 4, 0.0, 7, "baseline")) == []


def test_request_ids_name_seed_phase_and_number() -> None:
    assert request_id(7, "block1", 17) == "7.block1.17"


@pytest.mark.parametrize("rate", [0, -1.0])
def test_a_rate_that_is_not_positive_is_refused(rate: float) -> None:
    with pytest.raises(UsageError, match=rf"read the rate {rate:g}/s; write a rate above 0, such as 20/s"):
        scheduled_times("constant", rate, 1.0, 7, "baseline")


def test_an_unknown_process_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="unknown arrival process 'poison'; did you mean 'poisson'"):
        scheduled_times("poison", 1, 1.0, 7, "baseline")  # type: ignore[arg-type]
