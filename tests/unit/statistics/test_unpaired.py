from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp, mannwhitneyu

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.intervals import DesignEffect
from chaosgate.statistics.unpaired import kolmogorov_smirnov, mann_whitney, pooled, weakened

WINDOWS, EACH = 5, 30


def drawn(random: np.random.Generator, weather: float, shift: float = 0.0) -> list[list[Floats]]:
    """Windows of normal values whose means differ by `weather`."""
    return [[random.normal(shift + random.normal(0, weather), 1, EACH) for _ in range(WINDOWS)]]


def test_one_window_each_is_the_plain_test() -> None:
    random = np.random.default_rng(1)
    first, second = random.normal(0, 1, 40), random.normal(0.4, 1, 60)

    assert mann_whitney([[first]], [[second]]).p == pytest.approx(
        mannwhitneyu(second, first, method="asymptotic", use_continuity=False).pvalue
    )
    ours, plain = kolmogorov_smirnov([[first]], [[second]]), ks_2samp(first, second, method="asymp")
    assert ours.statistic == plain.statistic
    assert ours.p == pytest.approx(plain.pvalue)


def test_a_design_effect_weakens() -> None:
    # 1.96 over the root of 4 is 0.98: 2 * (1 - Phi(0.98)) = 0.3271.
    assert weakened(0.05, DesignEffect(4.0, 10**9)) == pytest.approx(0.3271, abs=1e-4)
    # 4.303 is Student's 97.5 % quantile on 2 degrees of freedom.
    assert weakened(2 * 0.5 * math.erfc(4.303 / math.sqrt(2)), DesignEffect(1.0, 2)) == pytest.approx(0.05, abs=1e-4)
    assert weakened(0.3, DesignEffect(0.5, 0)) == 0.3


@pytest.mark.parametrize("test", [mann_whitney, kolmogorov_smirnov])
def test_many_requests_of_three_windows_that_are_all_weather_do_not_decide(test: object) -> None:
    # The plain probability is below 1e-300, a computer's 0; of three numbers each it is 0.1 at best.
    first = [[np.full(4000, level) + np.linspace(0, 0.1, 4000) for level in (1.0, 2.0, 3.0)]]
    second = [[np.full(4000, level) + np.linspace(0, 0.1, 4000) for level in (4.0, 5.0, 6.0)]]
    found = mann_whitney(first, second) if test is mann_whitney else kolmogorov_smirnov(first, second)

    assert mannwhitneyu(pooled(second), pooled(first)).pvalue == 0
    assert found.p > 0.05


def test_a_probability_far_out_has_the_tail_of_few_degrees_of_freedom() -> None:
    # Student's two-sided tail on 2 degrees of freedom is 1 - t / sqrt(t^2 + 2), 0.0201 at 6.95; the normal one, 4e-12.
    assert weakened(math.erfc(6.95 / math.sqrt(2)), DesignEffect(1.0, 2)) == pytest.approx(0.0201, abs=2e-4)


@pytest.mark.parametrize("test", [mann_whitney, kolmogorov_smirnov])
def test_weather_of_windows_is_not_taken_for_a_difference(test: object) -> None:
    random = np.random.default_rng(2)
    runs = [(drawn(random, 0.5), drawn(random, 0.5)) for _ in range(150)]
    ours = [(mann_whitney if test is mann_whitney else kolmogorov_smirnov)(*run).p < 0.05 for run in runs]
    plain = [mannwhitneyu(np.concatenate(a[0]), np.concatenate(b[0])).pvalue < 0.05 for a, b in runs]

    assert np.mean(plain) > 0.3
    assert np.mean(ours) < 0.12


def test_a_difference_is_found() -> None:
    random = np.random.default_rng(3)
    first, second = drawn(random, 0.1), drawn(random, 0.1, shift=1.5)

    assert mann_whitney(first, second).p < 0.001
    assert kolmogorov_smirnov(first, second).p < 0.001


def test_failed_requests_are_values() -> None:
    slow = [[np.array([0.1, 0.2, math.inf, math.inf])] * 4]
    quick = [[np.array([0.1, 0.2, 0.15, 0.12])] * 4]

    assert kolmogorov_smirnov(quick, slow).statistic == 0.5
    assert mann_whitney(quick, slow).p < 0.2
