from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.estimate.position import position
from chaosgate.units import Bound

AT_MOST = Bound.parse("<= 300ms")
AT_LEAST = Bound.parse(">= 99 %")


@pytest.mark.parametrize(
    ("bound", "value", "lower", "upper", "expected"),
    [
        (AT_MOST, 0.2, 0.1, 0.3, "inside"),
        (AT_MOST, 0.2, 0.1, 0.3001, "straddles"),
        (AT_MOST, 0.4, 0.3, 0.5, "straddles"),
        (AT_MOST, 0.4, 0.3001, 0.5, "outside"),
        (AT_MOST, 0.4, 0.31, None, "outside"),
        (AT_MOST, None, 0.31, None, "outside"),
        (AT_MOST, 0.2, 0.1, None, "open"),
        (AT_MOST, 0.4, 0.1, None, "missing"),
        (AT_MOST, None, 0.1, None, "missing"),
        (AT_MOST, 0.2, None, None, "missing"),
        (AT_MOST, 0.2, None, 0.25, "missing"),
        (AT_MOST, None, 0.1, 0.2, "missing"),
        (AT_MOST, math.nan, 0.1, 0.2, "missing"),
        (AT_MOST, 0.2, 0.1, math.nan, "missing"),
        (AT_MOST, 0.2, math.nan, 0.25, "missing"),
        (AT_MOST, 0.2, 0.25, 0.1, "missing"),
        (AT_LEAST, 0.995, 0.99, 1.0, "inside"),
        (AT_LEAST, 0.995, 0.98, 1.0, "straddles"),
        (AT_LEAST, 0.9, 0.8, 0.98, "outside"),
        (AT_LEAST, 0.9, None, 0.98, "outside"),
        (AT_LEAST, 0.995, 0.99, None, "missing"),
        (AT_LEAST, 0.995, None, 1.0, "open"),
    ],
)
def test_where_an_interval_lies(
    bound: Bound, value: float | None, lower: float | None, upper: float | None, expected: str
) -> None:
    assert position(bound, value, lower, upper) == expected


def test_an_unbounded_interval_breaks_a_bound_from_above_and_keeps_none_from_below() -> None:
    assert position(AT_MOST, None, None, None, unbounded=True) == "outside"
    assert position(AT_LEAST, None, None, None, unbounded=True) == "missing"


numbers = st.none() | st.floats(-1, 1) | st.just(math.nan) | st.just(math.inf) | st.just(-math.inf)


@given(numbers, numbers, numbers, st.sampled_from([AT_MOST, AT_LEAST]))
def test_inside_needs_three_finite_numbers_that_keep_the_bound(
    value: float | None, lower: float | None, upper: float | None, bound: Bound
) -> None:
    if position(bound, value, lower, upper) == "inside":
        for number in (value, lower, upper):
            assert number is not None
            assert math.isfinite(number)
        assert bound.holds(lower or 0.0)
        assert bound.holds(upper or 0.0)
