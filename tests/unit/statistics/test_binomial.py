import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chaosgate.statistics.binomial import clopper_pearson


@given(n=st.integers(1, 2000), data=st.data())
def test_whole_numbers_give_the_exact_interval(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    exact = stats.binomtest(hits, n).proportion_ci(0.95, "exact")
    assert clopper_pearson(hits, n) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_sizes_between_whole_numbers_lie_between() -> None:
    widths = [upper - lower for lower, upper in (clopper_pearson(0.1 * n, n) for n in (40, 40.5, 41))]
    assert widths[0] > widths[1] > widths[2]


@pytest.mark.parametrize(("hits", "n"), [(-1, 10), (11, 10), (0, 0), (1, float("inf")), (float("nan"), 10)])
def test_impossible_counts_are_refused(hits: float, n: float) -> None:
    with pytest.raises(ValueError, match="hits lie between 0 and n, and n is above 0"):
        clopper_pearson(hits, n)
