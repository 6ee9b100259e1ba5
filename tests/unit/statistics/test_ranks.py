"""The one definition of a quantile."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.statistics.ranks import percentile, quantile_of, quantile_rank


@given(st.integers(1, 5000), st.floats(0.001, 1))
def test_the_value_of_that_rank_is_the_first_that_the_share_does_not_exceed(n: int, quantile: float) -> None:
    rank = quantile_rank(quantile, n)
    assert 1 <= rank <= n
    assert rank >= quantile * n - 1e-8
    assert rank - 1 < math.ceil(round(quantile * n, 9))


@pytest.mark.parametrize(("quantile", "rank"), [(0.07, 7), (0.5, 50), (0.55, 55), (0.95, 95), (0.99, 99), (0.999, 100)])
def test_ranks_of_a_hundred_values(quantile: float, rank: int) -> None:
    assert quantile_rank(quantile, 100) == rank


def test_one_value_is_every_quantile_of_itself() -> None:
    assert quantile_rank(1e-9, 1) == quantile_rank(1.0, 1) == 1


@given(st.lists(st.floats(allow_nan=False), min_size=1), st.floats(0.001, 1))
def test_the_quantile_is_a_value_that_was_seen_whatever_the_order(values: list[float], quantile: float) -> None:
    found = quantile_of(values, quantile)
    assert found in values
    assert found == quantile_of(reversed(values), quantile)
    assert sum(value <= found for value in values) >= quantile * len(values) - 1e-8


@pytest.mark.parametrize(("quantile", "name"), [(0.95, "P95"), (0.999, "P99.9"), (0.07, "P7")])
def test_a_quantile_has_the_name_that_people_use(quantile: float, name: str) -> None:
    assert percentile(quantile) == name
