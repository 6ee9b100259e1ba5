"""Bins and bars: every value is in one bin, and is seen."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.cli.load_histogram import BAR, BINS, Bin, bars, histogram

latencies = st.lists(st.floats(0, 1000, allow_nan=False), min_size=1, max_size=200)


@given(latencies)
def test_every_value_is_in_one_bin_and_the_bins_touch(values: list[float]) -> None:
    bins = histogram(values)
    assert sum(one.count for one in bins) == len(values)
    assert all(before.upper == after.lower for before, after in pairwise(bins))
    assert bins[0].lower <= max(1e-6, min(values))
    assert bins[-1].upper >= max(values)


@given(latencies)
def test_bins_are_equally_wide_on_a_logarithmic_axis(values: list[float]) -> None:
    bins = histogram(values)
    if len(bins) > 1:
        ratios = [one.upper / one.lower for one in bins]
        assert max(ratios) == pytest.approx(min(ratios), rel=1e-6)


def test_counts_are_of_their_range() -> None:
    values = [0.001 * 2 ** (number + 0.5) for number in range(12)] + [0.001, 4.096]
    bins = histogram(values)
    assert len(bins) == BINS
    assert [one.count for one in bins] == [2, *[1] * 10, 2]
    assert math.isclose(bins[1].lower, 0.002)


def test_values_that_hardly_differ_are_one_bin() -> None:
    assert [one.count for one in histogram([0.1, 0.101, 0.1])] == [3]
    assert histogram([]) == ()


def test_bars_are_as_long_as_their_counts_and_none_is_lost() -> None:
    bins = [
        Bin(lower=0.001, upper=0.01, count=800),
        Bin(lower=0.01, upper=0.1, count=400),
        Bin(lower=0.1, upper=1, count=1),
    ]
    first, second, third = bars(bins)
    assert first == f"     1ms to 10ms     {'█' * BAR} 800"
    assert second.count("█") == BAR // 2
    assert third.rstrip().endswith("▏" + " " * (BAR - 1) + " 1")
    assert next(bars([Bin(lower=1, upper=2, count=0), bins[0]])).endswith(" 0")
