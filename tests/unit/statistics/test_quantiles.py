"""The ends of a quantile's interval: binomial ranks without noise, wider with it, and honest about what is unknown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chaosgate.statistics.intervals import Floats
from chaosgate.statistics.quantiles import RankedValues


def ranked(windows: list[Floats], borrowed: list[list[Floats]] | None = None) -> RankedValues:
    return RankedValues([windows], borrowed or [], np.sort(np.concatenate(windows)))


def lognormal(random: np.random.Generator, windows: int, size: int, noise: float) -> list[Floats]:
    """Windows of lognormal values, each with a scale of its own."""
    return [np.exp(0.3 * random.standard_normal(size) + noise * random.standard_normal()) for _ in range(windows)]


@pytest.mark.parametrize("n", [72, 100, 400, 5000])
@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.95])
def test_one_window_of_independent_values_gives_the_binomial_ranks(quantile: float, n: int) -> None:
    values = np.arange(1.0, n + 1)
    found = ranked([values])
    lower, upper = found.lower(quantile), found.upper(quantile)
    assert lower is not None
    assert upper is not None
    below = stats.binom(n, quantile)
    assert below.cdf(lower - 1) <= 0.025 < below.cdf(lower)
    assert below.sf(upper - 1) <= 0.025 < below.sf(upper - 2)


def test_one_value_fewer_than_needed_has_no_upper_end() -> None:
    assert ranked([np.arange(72.0)]).upper(0.95) == 71.0
    assert ranked([np.arange(71.0)]).upper(0.95) is None


def test_a_noisy_body_does_not_open_the_end_of_a_calm_tail() -> None:
    # Hiccups move the body of whole windows, but what lies beyond 10 is spread evenly over the windows.
    body = [np.full(36, 1.0 + window % 2) for window in range(8)]
    windows = [np.append(values, np.arange(4) * 10.0 + 10 + window) for window, values in enumerate(body)]
    assert ranked(windows).effect(100).value > 5
    assert ranked(windows).upper(0.95) is not None


def test_a_tail_in_one_window_only_opens_the_upper_end() -> None:
    windows = [np.full(40, 1.0) for _ in range(7)] + [np.linspace(2.0, 3.0, 40)]
    assert ranked(windows).upper(0.95) is None


def test_calm_undisturbed_windows_close_an_end_that_few_windows_leave_open() -> None:
    random = np.random.default_rng(3)
    alone, borrowed = 0, 0
    for _ in range(60):
        judged = lognormal(random, 3, 80, 0.0)
        calm = [lognormal(random, 3, 80, 0.0), lognormal(random, 6, 40, 0.0)]
        alone += ranked(judged).upper(0.95) is None
        borrowed += ranked(judged, calm).upper(0.95) is None
    assert borrowed < alone / 3


@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=8),
    quantile=st.sampled_from([0.01, 0.05, 0.5, 0.9, 0.95, 0.99]),
    seed=st.integers(0, 2**16),
)
def test_ends_enclose_the_quantile(sizes: list[int], quantile: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    # Rounded, so that ties are common.
    found = ranked([np.round(random.exponential(size=size), 1) for size in sizes])
    lower, upper = found.lower(quantile), found.upper(quantile)
    assert lower is None or lower <= found.value(quantile)
    assert upper is None or upper >= found.value(quantile)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize(
    ("windows", "size", "noise", "least"),
    [(3, 80, 0.0, 0.95), (3, 80, 0.1, 0.93), (6, 40, 0.1, 0.94), (8, 40, 0.1, 0.93), (6, 40, 0.3, 0.87)],
)
def test_coverage_of_a_p95(windows: int, size: int, noise: float, least: float) -> None:
    random, covered = np.random.default_rng(5), 0
    truth = float(np.exp(stats.norm.ppf(0.95) * np.hypot(0.3, noise)))
    for _ in range(200):
        judged = lognormal(random, windows, size, noise)
        found = ranked(judged, [lognormal(random, 3, 80, noise), lognormal(random, 6, 40, noise)])
        lower, upper = found.lower(0.95), found.upper(0.95)
        covered += (lower is None or lower <= truth) and (upper is None or truth <= upper)
    assert covered >= least * 200
