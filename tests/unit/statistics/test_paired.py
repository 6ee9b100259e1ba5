from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import wilcoxon as plain_wilcoxon

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.difference import Arm, difference
from chaosgate.statistics.intervals import Group, share_interval
from chaosgate.statistics.paired import Asked, Pairs, mcnemar, paired_bootstrap, paired_difference, wilcoxon

PROMPTS = 24


def one_window(values: Floats, repeats: int = 1) -> Asked:
    """Each value is that of a prompt of its own, asked so often, in one window."""
    return Asked([np.tile(np.arange(len(values)), repeats)], [np.tile(values, repeats).astype(float)])


def windows(random: np.random.Generator, count: int, right: Floats, weather: float = 0.0) -> Asked:
    """Windows of 60 requests that cycle the prompts, each right with its probability, shifted in a window."""
    prompts = [(np.arange(60) + 60 * index) % len(right) for index in range(count)]
    shifts = random.normal(0, weather, count)
    values = [
        (random.random(60) < np.clip(right[at] + shift, 0, 1)).astype(float)
        for at, shift in zip(prompts, shifts, strict=True)
    ]
    return Asked(prompts, values)


def test_mcnemar_of_statsmodels() -> None:
    # statsmodels 0.14: mcnemar([[0, 35], [20, 0]], exact=False, correction=False): 4.0909, p = 0.043114.
    before = np.array([0.0] * 35 + [1.0] * 20 + [1.0] * 45)
    during = np.array([1.0] * 35 + [0.0] * 20 + [1.0] * 45)
    found = mcnemar(Pairs(one_window(before, 2), one_window(during)))

    assert found.statistic**2 == pytest.approx(4.090909, rel=1e-6)
    assert found.p == pytest.approx(0.043114446783075445, rel=1e-6)


def test_wilcoxon_of_scipy() -> None:
    random = np.random.default_rng(4)
    before = random.exponential(1, 40)
    during = before + random.normal(0.3, 1, 40)
    during[:3] = before[:3]
    # So many answers before that their mean is known.
    found = wilcoxon(Pairs(one_window(before, 2000), one_window(during)))
    plain = plain_wilcoxon(during, before, method="asymptotic", correction=False)

    assert found.p == pytest.approx(plain.pvalue, rel=5e-3)


def test_few_windows_do_not_make_a_tail_of_many() -> None:
    random = np.random.default_rng(10)
    small = 0
    for _ in range(300):
        right = np.full(PROMPTS, 0.5)
        pairs = Pairs(windows(random, 3, right, 0.2), windows(random, 3, right, 0.2))
        small += mcnemar(pairs).p < 0.001
    # Were the tail normal, some 4 % would lie there.
    assert small / 300 <= 0.01


def test_the_interval_of_bonett_and_price() -> None:
    lost, gained, n = 9, 3, 100
    before = np.array([1.0] * (n - gained) + [0.0] * gained)
    during = np.array([0.0] * lost + [1.0] * (n - lost))
    found = paired_difference(Pairs(one_window(before, 3000), one_window(during)), True, 1)

    # (p12 + p21 - (p12 - p21)^2) / (n + 2), p12 = (f12 + 1) / (n + 2): their formula for one set of pairs.
    better, worse = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    error = math.sqrt((better + worse - (better - worse) ** 2) / (n + 2))
    assert found.value == pytest.approx((gained - lost) / n)
    assert found.lower is not None
    assert found.upper is not None
    assert (found.upper - found.lower) / 2 == pytest.approx(1.959964 * error, rel=1e-3)


def test_no_change_at_all_is_not_known_for_sure() -> None:
    random = np.random.default_rng(5)
    right = np.array([1.0] * 18 + [0.0] * 6)
    found = paired_difference(Pairs(windows(random, 3, right), windows(random, 4, right)), True, 1)

    assert found.value == 0
    assert found.lower is not None
    assert -0.1 < found.lower < -0.01


def test_pairs_tell_more_than_two_shares() -> None:
    random = np.random.default_rng(6)
    right = np.array([1.0] * 16 + [0.0] * 8)
    before, during = windows(random, 4, right), windows(random, 4, right * 0.9)
    found = paired_difference(Pairs(before, during), True, 1)
    arms = []
    for side in (before, during):
        sums, counts = (np.array([float(f(values)) for values in side.values]) for f in (np.sum, len))
        lower, upper = share_interval([Group(sums, counts)], [], 1)
        arms.append(Arm(float(sums.sum() / counts.sum()), lower, upper))
    apart = difference(*arms)

    assert None not in (found.lower, found.upper, apart.lower, apart.upper)
    assert found.upper - found.lower < 0.8 * (apart.upper - apart.lower)  # type: ignore[operator]


def test_prompts_asked_once_or_never_before_do_not_pair() -> None:
    once = one_window(np.array([1.0, 0.0, 1.0]))

    assert Pairs(one_window(np.array([1.0, 0.0, 1.0]), 2), once).usable
    assert not Pairs(once, once).usable
    assert not Pairs(one_window(np.array([1.0, 0.0]), 2), once).usable


def test_an_infinite_value_is_the_largest_change() -> None:
    before = one_window(np.arange(1.0, 13.0), 4)
    during = one_window(np.array([math.inf] * 12))
    found = wilcoxon(Pairs(before, during))

    assert math.isfinite(found.statistic)
    assert found.statistic > 2


def test_what_differs_between_doses_is_no_noise() -> None:
    random = np.random.default_rng(7)
    low, high = (windows(random, 4, np.full(PROMPTS, share)) for share in (0.9, 0.3))
    before = windows(random, 8, np.full(PROMPTS, 0.95))
    prompts, values = (*low.prompts, *high.prompts), (*low.values, *high.values)
    together = paired_difference(Pairs(before, Asked(prompts, values)), True, 1)
    apart = paired_difference(Pairs(before, Asked(prompts, values, [1] * 4 + [2] * 4)), True, 1)

    assert mcnemar(Pairs(before, Asked(prompts, values, [1] * 4 + [2] * 4))).p < 1e-4
    assert together.value == apart.value


def test_the_bootstrap_is_the_same_for_the_same_seed_and_holds_the_change() -> None:
    random = np.random.default_rng(8)
    right = np.full(PROMPTS, 0.8)
    pairs = Pairs(windows(random, 8, right), windows(random, 8, right - 0.2))
    lower, upper = paired_bootstrap(pairs, 3)

    assert (lower, upper) == paired_bootstrap(pairs, 3)
    assert lower < -0.2 < upper
    found = paired_difference(pairs, True, 3)
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= lower < upper <= found.upper


@pytest.mark.thorough
@pytest.mark.parametrize(("count", "weather"), [(3, 0.0), (4, 0.08), (8, 0.08)])
def test_the_interval_covers(count: int, weather: float) -> None:
    random = np.random.default_rng(9)
    right = random.beta(4, 4, PROMPTS)
    covered = []
    for _ in range(400):
        alike = [windows(random, 4, right, weather) for _ in range(4)]
        before, during = windows(random, count, right, weather), windows(random, count, right - 0.1, weather)
        found = paired_difference(Pairs(before, during, alike), True, 1)
        true = float((np.clip(right - 0.1, 0, 1) - right).mean())
        covered.append(found.lower is not None and found.upper is not None and found.lower <= true <= found.upper)
    assert np.mean(covered) >= 0.925
