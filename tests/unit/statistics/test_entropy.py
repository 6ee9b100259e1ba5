from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.statistics.entropy import SMOOTHING, divergence, entropy_bits, histogram

counts = st.lists(st.integers(0, 1000), min_size=2, max_size=12)


def test_the_entropy_of_equal_shares_is_the_logarithm_of_their_number() -> None:
    assert entropy_bits([1, 1]) == pytest.approx(1)
    assert entropy_bits([3] * 8) == pytest.approx(3)
    assert entropy_bits([7]) == 0


def test_the_entropy_of_shannons_own_example() -> None:
    # Shannon 1948, section 7: letters with the probabilities 1/2, 1/4, 1/8 and 1/8 carry 7/4 bits each.
    assert entropy_bits([4, 2, 1, 1]) == pytest.approx(1.75)


def test_nothing_has_no_entropy() -> None:
    with pytest.raises(ValueError, match="no entropy of nothing"):
        entropy_bits([0, 0])


@given(counts.filter(any))
def test_an_entropy_lies_between_0_and_that_of_equal_shares(found: list[int]) -> None:
    assert -1e-9 <= entropy_bits(found) <= math.log2(len(found)) + 1e-9


def test_the_divergence_is_that_of_kullback_and_leibler_on_smoothed_counts() -> None:
    # Both smoothed: 2/4 and 2/4 against 3/4 and 1/4, so (1/2) ln (2/3) + (1/2) ln 2 = (1/2) ln (4/3).
    one, other = [2 - SMOOTHING] * 2, [3 - SMOOTHING, 1 - SMOOTHING]
    assert divergence(one, other) == pytest.approx(0.5 * math.log(4 / 3))  # type: ignore[arg-type]


@given(counts)
def test_equal_counts_do_not_diverge(found: list[int]) -> None:
    assert divergence(found, found) == pytest.approx(0, abs=1e-12)


@given(st.integers(2, 10).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 99), min_size=n, max_size=n)] * 2)))
def test_a_divergence_is_finite_and_not_negative(arms: tuple[list[int], list[int]]) -> None:
    found = divergence(*arms)
    assert math.isfinite(found)
    assert found >= -1e-12


def test_counts_of_other_bins_are_refused() -> None:
    with pytest.raises(ValueError, match="read 2 and 3 bins"):
        divergence([1, 2], [1, 2, 3])


def test_a_histogram_counts_both_ends() -> None:
    assert histogram([0.0, 0.05, 0.1, 0.95, 1.0], 10) == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]
