import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chaosgate.statistics.rates import Amounts, dispersion, rate_interval, score_interval


def amounts(*sums: float, length: float = 4.0) -> Amounts:
    return Amounts(np.array(sums, dtype=float), np.full(len(sums), length))


def test_dispersion_by_hand() -> None:
    # Rate 120 / 12 = 10: 40 are expected in each. (100 + 0 + 100) / 40 over 2 degrees of freedom.
    assert dispersion([amounts(30, 40, 50)]) == (pytest.approx(2.5), 2)


def test_groups_are_pooled_around_their_own_rates() -> None:
    assert dispersion([amounts(30, 40, 50), amounts(80, 80, 80)]) == (pytest.approx((5 + 0) / 4), 4)


def test_windows_of_different_lengths_are_expected_to_bring_as_much_a_second() -> None:
    uneven = Amounts(np.array([10.0, 20.0, 40.0]), np.array([1.0, 2.0, 4.0]))
    assert dispersion([uneven]) == (0, 2)
    assert uneven.rate == 10


@pytest.mark.parametrize("silent", [amounts(0, 0, 0), amounts(7)])
def test_groups_in_which_nothing_varies_say_nothing(silent: Amounts) -> None:
    assert dispersion([silent]) == (1.0, 0)


def test_many_windows_have_the_t_interval_of_their_rates() -> None:
    random = np.random.default_rng(1)
    windows = amounts(*random.normal(4000, 200, 40))
    lower, upper = rate_interval([windows], [], events=8000)
    rates = windows.sums / windows.lengths
    half = stats.t.ppf(0.975, 39) * rates.std(ddof=1) / math.sqrt(40)
    assert (lower, upper) == pytest.approx((windows.rate - half, windows.rate + half), rel=1e-3)


def test_nothing_at_all_has_an_upper_end() -> None:
    """The score interval of no event in 12 s; the exact one ends at -ln(0.025) / 12 = 0.307."""
    lower, upper = rate_interval([amounts(0, 0, 0)], [], events=0)
    assert (lower, upper) == (0, pytest.approx(stats.norm.ppf(0.975) ** 2 / 12))


def test_a_few_windows_that_agree_by_chance_are_not_taken_for_sure() -> None:
    lower, upper = rate_interval([amounts(1, 1, 1)], [], events=3)
    assert lower < 0.1
    assert upper > 0.7


def test_a_constant_load_that_is_answered_has_a_narrow_interval() -> None:
    lower, upper = rate_interval([amounts(80, 80, 80, 80)], [], events=320)
    assert lower == upper == 20


def test_borrowing_narrows_an_interval_that_rests_on_three_windows() -> None:
    alone = rate_interval([amounts(70, 80, 90)], [], events=240)
    helped = rate_interval([amounts(70, 80, 90)], [amounts(75, 80, 85, 80, 78, 82)], events=240)
    assert helped[1] - helped[0] < alone[1] - alone[0]


def test_a_difference_between_strata_is_no_noise() -> None:
    low, high = amounts(40, 41, 40), amounts(80, 81, 80)
    apart, mixed = rate_interval([low, high], [], 362), rate_interval([amounts(40, 41, 40, 80, 81, 80)], [], 362)
    assert apart[1] - apart[0] < (mixed[1] - mixed[0]) / 10


@given(st.lists(st.integers(0, 200), min_size=3, max_size=12), st.floats(0.1, 60))
def test_the_interval_encloses_the_rate(sums: list[int], length: float) -> None:
    windows = amounts(*sums, length=length)
    lower, upper = rate_interval([windows], [], events=sum(sums))
    assert 0 <= lower <= windows.rate * (1 + 1e-9)
    assert upper >= windows.rate * (1 - 1e-9)


@given(st.floats(0, 1e6), st.floats(1e-3, 1e3))
def test_the_score_interval_ends_where_it_says(total: float, width: float) -> None:
    for end in score_interval(total, width):
        assert (total - end) ** 2 == pytest.approx(width * end, rel=1e-4, abs=1e-6 * (total + width))


@pytest.mark.parametrize(
    ("windows", "mean", "spread", "least"),
    [
        (3, 80, 0.0, 0.94),
        (4, 80, 0.2, 0.93),
        (6, 80, 0.2, 0.92),
        (12, 80, 0.1, 0.93),
        (12, 1, 0.0, 0.94),
        (3, 2, 0.0, 0.94),
        (6, 0.3, 0.0, 0.95),
    ],
)
def test_coverage_of_rates(windows: int, mean: float, spread: float, least: float) -> None:
    """Poisson counts whose mean varies between windows by `spread` of itself, gamma distributed."""
    random, covered, repeats = np.random.default_rng(5), 0, 1500
    for _ in range(repeats):
        shape = (windows + 12,)
        means = random.gamma(spread**-2, mean * spread**2, shape) if spread else np.full(shape, mean)
        counts = random.poisson(means)
        own, calm = amounts(*counts[:windows]), [amounts(*counts[windows:-6]), amounts(*counts[-6:])]
        lower, upper = rate_interval([own], calm, events=float(counts[:windows].sum()))
        covered += lower <= mean / 4 <= upper
    assert covered / repeats >= least - 2 * math.sqrt(least * (1 - least) / repeats)
