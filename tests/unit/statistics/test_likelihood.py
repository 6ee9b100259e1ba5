import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import approx_fprime

from chaosgate.statistics.likelihood import (
    Counts,
    Curve,
    _gradient,
    deviance,
    dispersion,
    fit_curve,
    flat_deviance,
    profile,
)

CURVE = Curve(threshold=0.2, steepness=40.0, background=0.01, share=0.05)
DOSES = np.repeat([0.0, 0.1, 0.18, 0.22, 0.26, 0.32], 4)


def drawn(curve: Curve, seed: int = 0, n: int = 40) -> Counts:
    random = np.random.default_rng(seed)
    sizes = np.full(len(DOSES), float(n))
    return Counts(DOSES, random.binomial(n, curve.breaks(DOSES)).astype(float), sizes)


def test_the_curve_passes_the_share_at_the_threshold_between_background_and_all() -> None:
    assert CURVE.breaks(np.array([0.2]))[0] == pytest.approx(0.05)
    assert CURVE.breaks(np.array([-9.0, 9.0])) == pytest.approx([0.01, 1.0])
    assert CURVE.breaks(DOSES) + CURVE.meets(DOSES) == pytest.approx(np.ones(24))


def test_windows_add_up_by_dose() -> None:
    total = Counts(np.array([0.2, 0.1, 0.2]), np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])).by_dose()
    assert (total.doses.tolist(), total.broken.tolist(), total.n.tolist()) == ([0.1, 0.2], [2, 4], [20, 40])


def test_deviance_is_twice_the_log_likelihood_ratio() -> None:
    counts = drawn(CURVE)
    ours = stats.binom.logpmf(counts.broken, 40, CURVE.breaks(DOSES)).sum()
    best = stats.binom.logpmf(counts.broken, 40, counts.shares).sum()
    assert deviance(counts, CURVE) == pytest.approx(2 * (best - ours))
    flat = stats.binom.logpmf(counts.broken, 40, counts.broken.sum() / counts.n.sum()).sum()
    assert flat_deviance(counts) == pytest.approx(2 * (best - flat))


def test_deviance_stays_finite_on_the_steepest_curve() -> None:
    steepest = Curve(threshold=0.2, steepness=300 / 0.32, background=0.0, share=0.05)
    assert math.isfinite(deviance(drawn(CURVE), steepest))


def test_the_gradient_is_the_derivative_of_the_deviance() -> None:
    counts, range_ = drawn(CURVE), 0.32

    def loss(parameters: np.ndarray) -> float:
        threshold, log_steepness, background = (float(number) for number in parameters)
        return deviance(counts, Curve(threshold * range_, math.exp(log_steepness) / range_, background, 0.05))

    at = np.array([0.2 / range_, math.log(30 * range_), 0.02])
    numeric = approx_fprime(at, loss, 1e-7)
    assert _gradient(counts, Curve(0.2, 30.0, 0.02, 0.05), range_) == pytest.approx(numeric, rel=1e-3)


def test_many_requests_give_the_planted_curve_back() -> None:
    found = fit_curve(drawn(CURVE, n=20_000), 0.05)
    assert found.threshold == pytest.approx(0.2, abs=0.002)
    assert found.steepness == pytest.approx(40, rel=0.03)
    assert found.background == pytest.approx(0.01, abs=0.001)


def test_no_curve_nearby_is_likelier_than_the_fitted_one() -> None:
    counts = drawn(CURVE, seed=3)
    best = fit_curve(counts, 0.05)
    for threshold in (0.99, 1.01):
        for steepness in (0.97, 1.03):
            near = Curve(best.threshold * threshold, best.steepness * steepness, best.background, 0.05)
            assert deviance(counts, near) > deviance(counts, best)


def test_the_profile_touches_the_maximum_and_rises_on_both_sides() -> None:
    counts = drawn(CURVE, seed=3)
    best = fit_curve(counts, 0.05)
    least = deviance(counts, best)
    rises = [deviance(counts, profile(counts, 0.05, best.threshold + step)) - least for step in (-0.03, 0, 0.03)]
    assert rises[1] == pytest.approx(0, abs=1e-3)
    assert rises[0] > 1
    assert rises[2] > 1


def test_dispersion_finds_the_planted_one() -> None:
    random, found = np.random.default_rng(5), []
    share, rho = np.clip(CURVE.breaks(DOSES), 1e-9, 1 - 1e-9), 0.05
    for _ in range(200):
        shares = random.beta(share * (1 - rho) / rho, (1 - share) * (1 - rho) / rho)
        counts = Counts(DOSES, random.binomial(40, shares).astype(float), np.full(24, 40.0))
        found.append(dispersion(counts, CURVE))
    # Three parameters are taken off though none was estimated here; the floor of 1 lifts the mean a little.
    assert np.mean(found) == pytest.approx((1 + 39 * rho) * 24 / 21, rel=0.15)


def test_one_stray_break_is_no_dispersion() -> None:
    clean = Curve(threshold=0.2, steepness=100.0, background=1e-9, share=0.05)
    counts = Counts(DOSES, np.round(40 * clean.breaks(DOSES)), np.full(24, 40.0))
    counts.broken[0] = 1
    assert dispersion(counts, clean) < 2


def test_dispersion_within_doses_by_hand() -> None:
    # Shares .25 and .75 about .5: (10^2 / 10) * 2 = 20 on one degree of freedom; the dose at 0 says nothing.
    counts = Counts(np.array([0.0, 0.0, 0.1, 0.1]), np.array([0.0, 0.0, 10.0, 30.0]), np.full(4, 40.0))
    assert counts.dispersion_within() == (pytest.approx(20), 1)
    assert counts.at(0.0).dispersion_within() == (1.0, 0)
