from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.effects import cliffs_delta

VALUES = st.lists(st.integers(0, 6), min_size=2, max_size=12)


def windows(*values: float) -> list[list[Floats]]:
    return [[np.array(values, dtype=float)]]


@given(VALUES, VALUES)
def test_it_counts_pairs(first: list[int], second: list[int]) -> None:
    pairs = [(y > x) - (y < x) for x, y in product(first, second)]
    found = cliffs_delta(windows(*first), windows(*second))

    assert found.value == pytest.approx(sum(pairs) / len(pairs))
    assert found.probability == pytest.approx((1 + found.value) / 2)
    assert -1 <= found.lower <= found.value + 1e-9
    assert found.value - 1e-9 <= found.upper <= 1


def test_sets_that_separate_have_no_point_for_an_interval() -> None:
    found = cliffs_delta(windows(*range(20)), windows(*range(30, 60)))

    assert found.value == 1
    # Clopper-Pearson of 20 in 20: 0.025 ** (1 / 20), on the scale from -1 to 1.
    assert found.lower == pytest.approx(2 * 0.025 ** (1 / 20) - 1)
    assert found.upper == 1


def test_a_failed_request_is_larger_than_any_other() -> None:
    assert cliffs_delta(windows(1, 2, 3), windows(math.inf, math.inf)).value == 1
    assert cliffs_delta(windows(1, math.inf), windows(2, math.inf)).value == pytest.approx(1 / 4)


def test_windows_that_differ_widen_it() -> None:
    even = [np.array([1.0, 2, 3, 4, 5, 6]) for _ in range(4)]
    uneven = [np.sort(np.concatenate(even))[start : start + 6] for start in (0, 6, 12, 18)]
    steady, apart = (cliffs_delta([even], [group]) for group in (even, uneven))

    assert steady.value == apart.value == 0
    assert apart.upper - apart.lower > 1.5 * (steady.upper - steady.lower)


def test_what_differs_between_doses_is_no_noise() -> None:
    doses = [np.array([1.0, 2, 3]) + shift for shift in (0, 0, 0, 9, 9, 9)]
    before = [[np.array([2.0, 3, 4]) for _ in range(4)]]
    together, apart = cliffs_delta(before, [doses]), cliffs_delta(before, [doses[:3], doses[3:]])

    assert together.value == apart.value
    assert apart.upper - apart.lower < together.upper - together.lower


def test_windows_that_separate_by_their_weather_are_clusters_still() -> None:
    first = [[np.array([level] * 100) + np.arange(100) / 1000 for level in (1.0, 2.0, 3.0)]]
    second = [[np.array([level] * 100) + np.arange(100) / 1000 for level in (4.0, 5.0, 6.0)]]
    found = cliffs_delta(first, second)

    # As 300 independent values the lower end would be 0.976.
    assert found.value == found.upper == 1
    assert found.lower < 0.5
