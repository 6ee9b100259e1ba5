"""Change points: the statistic against scipy's rank test, exact p values, planted changes, and false alarms."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, rankdata

from chaosgate.statistics.change_points import SIDE, _p_value, _strengths, autocorrelation, change_points


def series(seed: int, n: int = 40, at: int = 20, by: float = 4.0) -> np.ndarray:
    values = np.random.default_rng(seed).normal(size=n)
    values[at:] += by
    return values


def test_the_strength_of_a_change_is_that_of_the_rank_sum() -> None:
    values = series(3)
    strengths = _strengths(rankdata(values)[np.newaxis])[0]
    for before in (5, 20, 33):
        statistic = mannwhitneyu(values[:before], values[before:]).statistic
        after = 40 - before
        # Mann & Whitney: mean n1 n2 / 2, variance n1 n2 (N + 1) / 12; ranks over N, not N - 1.
        z2 = (statistic - before * after / 2) ** 2 / (before * after * 41 / 12)
        assert strengths[before - SIDE] == pytest.approx(z2 * 40 / 39)


def test_the_p_value_is_that_of_all_orders() -> None:
    ranks = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    # With three windows on either side there is one place, and 2 of the 20 splits are as strong.
    splits = [abs(sum(chosen) - 10.5) for chosen in combinations(ranks, 3)]
    exact = sum(split >= abs(6 - 10.5) for split in splits) / len(splits)
    assert exact == 0.1
    assert _p_value(ranks, 4999, np.random.default_rng(1)) == pytest.approx(exact, abs=0.02)


def test_a_planted_change_is_found_where_it_is() -> None:
    (found,) = change_points(series(1), seed=7)
    assert abs(found.at - 20) <= 1
    assert found.lower <= 20 <= found.upper
    assert found.seen is not None
    assert found.at + SIDE - 1 <= found.seen <= 26
    assert found.p < 0.01
    assert found.after - found.before == pytest.approx(4, abs=1)


def test_the_same_seed_gives_the_same_changes() -> None:
    assert change_points(series(2), seed=7) == change_points(series(2), seed=7)


def test_a_second_change_is_found_beside_the_first() -> None:
    values = series(5, n=60, at=20)
    values[40:] -= 4
    assert [round(change.at / 20) for change in change_points(values, seed=7)] == [1, 2]


def test_one_outlier_is_no_change() -> None:
    values = series(6, by=0.0)
    values[17] = 1e6
    assert change_points(values, seed=7) == []


@pytest.mark.parametrize("values", [[], [1.0] * 5, [2.0] * 50, list(range(5))])
def test_what_is_short_or_never_varies_has_no_change(values: list[float]) -> None:
    assert change_points(np.array(values, dtype=float), seed=7) == []


def test_windows_that_remember_show_in_the_autocorrelation() -> None:
    random = np.random.default_rng(4)
    noise = random.normal(size=200)
    walk = [0.0]
    for step in noise:
        walk.append(0.8 * walk[-1] + step)
    assert autocorrelation(np.array(walk), []) > 0.6
    assert abs(autocorrelation(noise, [])) < 0.2
    planted = series(1, n=200, at=100)
    assert abs(autocorrelation(planted, change_points(planted, 7))) < 0.2


@pytest.mark.thorough
def test_planted_changes_are_found_within_two_windows_and_false_alarms_are_few() -> None:
    found = [change_points(series(seed, at=12 + seed % 16), seed) for seed in range(200)]
    near = sum(any(abs(change.at - 12 - seed % 16) <= 2 for change in one) for seed, one in enumerate(found))
    alarms = sum(bool(change_points(series(seed, by=0.0), seed)) for seed in range(200))
    assert near >= 190
    # At 5 % more than 18 of 200 alarms come once in 100 suites.
    assert alarms <= 18
