import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chaosgate.statistics import intervals
from chaosgate.statistics.intervals import (
    DesignEffect,
    Group,
    bootstrap,
    design_effect,
    needed,
    share_interval,
)


def group(*hits: int, size: int = 40) -> Group:
    return Group(np.array(hits, dtype=float), np.full(len(hits), float(size)))


def draw(random: np.random.Generator, windows: int, size: int, share: float, rho: float) -> Group:
    """Windows whose shares are beta distributed with intraclass correlation `rho`."""
    spread = (1 - rho) / rho if rho else math.inf
    shares = random.beta(share * spread, (1 - share) * spread, windows) if rho else np.full(windows, share)
    return Group(random.binomial(size, shares).astype(float), np.full(windows, float(size)))


def test_design_effect_by_hand() -> None:
    # Shares 0, .1, .2 of 40: residuals -4, 0, 4; 3/2 * 32 / (120 * .1 * .9) = 4.444.
    effect = design_effect([group(0, 4, 8)], size=40)
    assert effect.value == pytest.approx(48 / 10.8)
    assert effect.freedom == 2


def test_design_effect_is_never_below_one() -> None:
    effect = design_effect([group(4, 4, 4)], size=40)
    assert (effect.ratio, effect.value) == (0, 1)


def test_groups_are_pooled_around_their_own_shares_by_degrees_of_freedom() -> None:
    own, other = group(0, 4, 8), group(20, 20, 20, 20)
    pooled = design_effect([own, other], size=40)
    assert pooled.freedom == 5
    assert pooled.ratio == pytest.approx((2 * 48 / 10.8 + 3 * 0) / 5)


def test_windows_of_another_size_enter_through_the_intraclass_correlation() -> None:
    same = design_effect([group(0, 4, 8)], size=40).ratio
    assert design_effect([group(0, 4, 8)], size=79).ratio - 1 == pytest.approx(2 * (same - 1))


@pytest.mark.parametrize("silent", [group(0, 0, 0), group(40, 40, 40), group(4)])
def test_groups_that_do_not_vary_say_nothing(silent: Group) -> None:
    assert design_effect([silent], size=40) == DesignEffect(1.0, 0)


@pytest.mark.parametrize("rho", [0.0, 0.05])
def test_design_effect_finds_the_planted_correlation(rho: float) -> None:
    random = np.random.default_rng(3)
    pooled = design_effect([draw(random, 6, 40, 0.2, rho) for _ in range(400)], size=40)
    assert pooled.ratio == pytest.approx(1 + 39 * rho, rel=0.12)


def test_effective_size_pays_for_few_degrees_of_freedom() -> None:
    student = stats.t.ppf(0.975, 2) / stats.norm.ppf(0.975)
    assert DesignEffect(2.0, 2).effective(120) == pytest.approx(120 / (2 * student**2))
    assert DesignEffect(2.0, 10_000).effective(120) == pytest.approx(60, rel=1e-3)
    assert DesignEffect(0.01, 2).effective(120) == 120
    assert DesignEffect(1.0, 0).effective(120) == 120


def test_a_share_of_zero_has_the_exact_upper_end() -> None:
    lower, upper = share_interval([group(0, 0, 0)], [], seed=0)
    assert lower == 0
    assert upper == pytest.approx(1 - 0.025 ** (1 / 120))


def test_a_share_of_one_has_the_exact_lower_end_also_with_many_windows() -> None:
    lower, upper = share_interval([group(*[40] * 12)], [], seed=0)
    assert lower == pytest.approx(0.025 ** (1 / 480))
    assert upper == 1


def test_a_share_of_zero_borrows_the_noise_of_the_undisturbed_windows() -> None:
    alone = share_interval([group(0, 0, 0)], [], seed=0)
    noisy = share_interval([group(0, 0, 0)], [group(0, 4, 8, 0, 4, 8)], seed=0)
    assert noisy[1] > 2 * alone[1]


def test_borrowing_narrows_an_interval_that_rests_on_three_windows() -> None:
    alone = share_interval([group(2, 4, 6)], [], seed=0)
    borrowed = share_interval([group(2, 4, 6)], [group(3, 4, 5, 4, 3, 5), group(4, 5, 3)], seed=0)
    assert alone[0] < borrowed[0] < 0.1 < borrowed[1] < alone[1]


def test_from_six_windows_on_nothing_is_borrowed() -> None:
    judged, noisy = [group(3, 4, 5, 4, 3, 5)], [group(0, 12, 0, 12, 0, 12)]
    assert share_interval(judged, noisy, seed=0) == share_interval(judged, [], seed=0)


def test_windows_that_happen_to_agree_do_not_beat_independent_requests() -> None:
    lower, upper = share_interval([group(4, 4, 4, 4, 4, 4)], [], seed=0)
    exact = stats.binomtest(24, 240).proportion_ci(0.95, "exact")
    assert (lower, upper) == pytest.approx((exact.low, exact.high))


def test_bootstrap_has_the_variance_of_resampled_windows() -> None:
    windows = group(*[0, 2, 4, 6, 8, 10] * 8)
    lower, upper = bootstrap([windows], seed=1)
    error = windows.hits.std() / 40 / math.sqrt(48)
    assert (upper - lower) / 2 == pytest.approx(stats.t.ppf(0.975, 47) * error, rel=0.06)


def test_bootstrap_keeps_strata_apart() -> None:
    lower, upper = bootstrap([group(0, 0, 0), group(40, 40, 40)], seed=1)
    assert (lower, upper) == (0.5, 0.5)


def test_bootstrap_repeats_from_its_seed_only() -> None:
    windows = [group(1, 2, 9, 4, 3, 7, 2)]
    assert bootstrap(windows, seed=5) == bootstrap(windows, seed=5)
    assert bootstrap(windows, seed=5) != bootstrap(windows, seed=6)


@pytest.mark.parametrize(("quantile", "n"), [(0.5, 6), (0.9, 36), (0.95, 72), (0.99, 368), (0.05, 72)])
def test_needed_values(quantile: float, n: int) -> None:
    assert needed(quantile) == n
    edge = max(quantile, 1 - quantile)
    assert edge**n <= 0.025 < edge ** (n - 1)


@given(
    hits=st.lists(st.integers(0, 40), min_size=3, max_size=12),
    borrowed=st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=6), max_size=3),
)
def test_share_intervals_enclose_the_share(hits: list[int], borrowed: list[list[int]]) -> None:
    lower, upper = share_interval([group(*hits)], [group(*other) for other in borrowed], seed=0)
    assert 0 <= lower <= group(*hits).share + 1e-12
    assert group(*hits).share - 1e-12 <= upper <= 1


@pytest.mark.parametrize(
    ("windows", "rho", "share", "least"),
    [
        (3, 0.0, 0.05, 0.95),
        (4, 0.0, 0.3, 0.95),
        (6, 0.0, 0.05, 0.95),
        (12, 0.0, 0.3, 0.94),
        (3, 0.05, 0.05, 0.94),
        (4, 0.05, 0.3, 0.93),
        (6, 0.05, 0.05, 0.90),
        (12, 0.05, 0.3, 0.92),
    ],
)
def test_coverage_of_shares(
    windows: int, rho: float, share: float, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 1000)
    random, covered = np.random.default_rng(11), 0
    for seed in range(300):
        borrowed = [draw(random, 3, 80, share, rho), draw(random, 6, 40, share, rho), draw(random, 3, 40, share, rho)]
        lower, upper = share_interval([draw(random, windows, 40, share, rho)], borrowed, seed)
        covered += lower <= share <= upper
    assert covered >= least * 300
