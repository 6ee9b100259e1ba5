"""Means of requests in windows, and of one number a window, against published values and the intervals of shares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import clopper_pearson
from chaosgate.statistics.intervals import Group, design_effect, share_interval
from chaosgate.statistics.means import Batch, bounded_interval, mean_effect, mean_interval, window_interval

SLEEP = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
"""Extra hours of sleep by the first drug: Student, Biometrika 6 (1908), R's data set `sleep`."""
SLEEP_INTERVAL = (-0.5297804, 2.0297804)
"""R 4.3: t.test(sleep$extra[1:10])."""


def batch(*windows: list[float]) -> Batch:
    return Batch([np.array(values, dtype=float) for values in windows])


def bits(random: np.random.Generator, windows: int, size: int, share: float) -> list[Floats]:
    return [(random.random(size) < share).astype(float) for _ in range(windows)]


def group(windows: list[Floats]) -> Group:
    return Group(np.array([each.sum() for each in windows]), np.array([float(len(each)) for each in windows]))


def test_one_number_a_window_has_the_t_interval() -> None:
    assert window_interval([batch(*([value] for value in SLEEP))], [], False, 10) == pytest.approx(SLEEP_INTERVAL)


def test_values_of_windows_that_agree_have_the_t_interval_of_independent_ones() -> None:
    """Each window has the same mean, so that nothing varies between them."""
    windows = [[1.0, 3.0], [0.0, 4.0], [2.0, 2.0]]
    values = np.concatenate(windows)
    wanted = stats.t.interval(0.95, 5, values.mean(), stats.sem(values))
    assert mean_interval([batch(*windows)], [], False) == pytest.approx(wanted)


def test_windows_that_differ_have_the_t_interval_of_their_means() -> None:
    """All requests of a window are the same: as many of them as there may be tell no more than one."""
    means = [1.0, 5.0, 2.0, 9.0, 4.0, 3.0]
    wanted = stats.t.interval(0.95, 5, np.mean(means), stats.sem(means))
    assert mean_interval([batch(*([mean] * 50 for mean in means))], [], False) == pytest.approx(wanted)


def test_doses_that_differ_are_no_noise() -> None:
    low, high = batch([1.0, 1.2], [1.1, 0.9], [1.0, 1.0]), batch([9.0, 9.2], [9.1, 8.9], [9.0, 9.0])
    pooled = batch(*[list(each) for each in (*low.windows, *high.windows)])
    apart, together = (mean_interval(strata, [], False) for strata in ([low, high], [pooled]))
    assert apart[1] - apart[0] < 0.1 * (together[1] - together[0])


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.integers(2, 8), st.integers(2, 60), st.floats(0.1, 0.9))
def test_zeros_and_ones_have_the_design_effect_of_a_share(seed: int, windows: int, size: int, share: float) -> None:
    drawn = bits(np.random.default_rng(seed), windows, size, share)
    of_shares, of_means = design_effect([group(drawn)], size), mean_effect([Batch(drawn)], size)
    assert of_means.freedom == of_shares.freedom
    assert of_means.ratio == pytest.approx(of_shares.ratio)


@pytest.mark.parametrize("seed", range(5))
def test_zeros_and_ones_in_few_windows_have_the_interval_of_a_share(seed: int) -> None:
    random = np.random.default_rng(seed)
    own, alike = bits(random, 4, 50, 0.9), bits(random, 5, 40, 0.8)
    wanted = share_interval([group(own)], [group(alike)], 0)
    assert mean_interval([Batch(own)], [Batch(alike)], True) == pytest.approx(wanted)


def test_values_that_are_all_one_have_the_interval_of_as_many_hits() -> None:
    """The rule of three: 30 right answers of 30 do not show that none of 10 is wrong."""
    lower, upper = mean_interval([batch([1.0] * 10, [1.0] * 10, [1.0] * 10)], [], True)
    assert (lower, upper) == (pytest.approx(0.025 ** (1 / 30)), 1.0)
    assert window_interval([batch([1.0], [1.0], [1.0])], [], True, 30) == pytest.approx((0.025 ** (1 / 30), 1.0))


def test_numbers_without_bounds_that_never_vary_have_a_point() -> None:
    assert window_interval([batch([0.0], [0.0], [0.0])], [], False, 30) == (0.0, 0.0)
    # Ten times a tenth is not one: rounding is no variance.
    assert mean_interval([batch([0.1] * 7, [0.1] * 9, [0.1] * 11)], [], False) == pytest.approx((0.1, 0.1))


def test_few_windows_borrow_the_variance_of_windows_alike_and_many_do_not() -> None:
    calm, wild = [batch(*([0.5 + 0.001 * i] for i in range(n))) for n in (3, 6)], batch([0.1], [0.9], [0.2], [0.8])
    (few, alone), (many, still) = (
        (window_interval([own], [wild], True, 90), window_interval([own], [], True, 90)) for own in calm
    )
    assert few[0] < alone[0] - 0.1
    assert many == still


@given(st.floats(0, 1), st.floats(0, 0.25), st.floats(1, 1e4))
def test_a_bounded_interval_holds_its_mean_and_stays_within_bounds(mean: float, variance: float, n: float) -> None:
    lower, upper = bounded_interval(mean, variance, n)
    assert 0 <= lower <= mean <= upper <= 1


def test_a_bounded_interval_is_that_of_as_many_zeros_and_ones_as_have_its_variance() -> None:
    assert bounded_interval(0.9, 0.09 / 200, 7) == pytest.approx(clopper_pearson(180, 200))


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("windows", [3, 8])
@pytest.mark.parametrize("spread", [0.0, 0.03])
def test_intervals_of_scores_cover(windows: int, spread: float) -> None:
    """Scores that are mostly 1, as BLEU's are, with windows that differ; 400 draws tell .93 from .95 by 1.8 sigma."""
    random, covered, times = np.random.default_rng(7), 0, 400
    truth = 0.85 + 0.15 * 0.5

    def drawn(count: int) -> Batch:
        shares = np.clip(0.85 + random.normal(0, spread, count), 0, 1)
        return Batch([np.where(random.random(60) < share, 1.0, random.random(60)) for share in shares])

    for _ in range(times):
        lower, upper = mean_interval([drawn(windows)], [drawn(4), drawn(4)], True)
        covered += lower <= truth <= upper
    assert covered / times >= 0.93
