"""The trend of numbers in an order, against a published example, and how often it is seen where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.statistics.trend import MIN_POINTS, trend_of

RAINFALL = (1.26, 1.27, 1.12, 1.16, 1.03)
"""Smith's cloud seeding, 1957 to 1961: Hollander & Wolfe, "Nonparametric Statistical Methods" (1999), example 9.1."""


def test_a_slope_and_its_test_are_as_published() -> None:
    trend = trend_of(RAINFALL)
    assert trend is not None
    assert trend.slope == pytest.approx(-0.05625)
    # C = -6 of five pairs: .117 on one side in their table.
    assert trend.p == pytest.approx(2 * 0.117, abs=0.001)
    assert trend.direction == "none shown"


def test_five_in_a_row_are_a_trend_and_four_are_too_few() -> None:
    trend = trend_of([1.0, 1.2, 1.3, 1.7, 1.9])
    assert trend is not None
    assert (trend.direction, trend.p) == ("rises", pytest.approx(2 / 120))
    assert (trend.lower, trend.upper) == pytest.approx((0.1, 0.4))
    assert trend_of([1.0, 1.2, 1.3, 1.7]) is None


def test_a_falling_threshold_falls() -> None:
    trend = trend_of([0.3, 0.28, 0.27, 0.2, 0.19, 0.1])
    assert trend is not None
    assert trend.direction == "falls"


def test_numbers_that_are_all_the_same_have_no_trend() -> None:
    trend = trend_of([0.2] * 6)
    assert trend is not None
    assert (trend.slope, trend.p, trend.direction) == (0.0, 1.0, "none shown")


@given(st.lists(st.floats(0.01, 100), min_size=MIN_POINTS, max_size=12))
def test_the_other_way_round_the_slope_changes_its_sign(values: list[float]) -> None:
    forth, back = trend_of(values), trend_of(values[::-1])
    assert forth is not None
    assert back is not None
    assert forth.slope == pytest.approx(-back.slope)
    assert {forth.direction, back.direction} in ({"rises", "falls"}, {"none shown"})


def test_a_trend_is_rarely_seen_where_there_is_none() -> None:
    random = np.random.default_rng(5)
    trends = [trend_of(random.lognormal(0, 0.3, 8).tolist()) for _ in range(400)]
    seen = np.mean([trend is not None and trend.direction != "none shown" for trend in trends])
    assert seen < 0.08
