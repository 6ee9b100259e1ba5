"""The profile of an onset, against a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import differential_evolution

from chaosgate.statistics.likelihood import Counts, deviance_of
from chaosgate.statistics.onset import OnsetCurve, Shape, exponential_rise, linear_rise, onset_profile

TOTAL = Counts(
    np.array([0.0, 0.1, 0.15, 0.2, 0.25, 0.3]),
    np.array([6.0, 5.0, 4.0, 13.0, 48.0, 90.0]),
    np.array([240.0, 160.0, 160.0, 160.0, 160.0, 160.0]),
)


@pytest.mark.parametrize("shape", [linear_rise, exponential_rise])
@pytest.mark.parametrize("onset", [0.1, 0.15, 0.2])
def test_the_deviance_at_an_onset_is_that_of_an_optimiser(shape: Shape, onset: float) -> None:
    profile = onset_profile(TOTAL, shape)
    index = int(np.abs(profile.onsets - onset).argmin())
    assert profile.onsets[index] == pytest.approx(onset)

    def loss(parameters: np.ndarray) -> float:
        log_width, first, second = (float(number) for number in parameters)
        return deviance_of(
            TOTAL, OnsetCurve(shape, onset, float(np.exp(log_width)), (first, second)).breaks(TOTAL.doses)
        )

    bounds = [(np.log(0.006), np.log(2.4)), (1e-6, 0.5), (1e-6, 1.0)]
    best = differential_evolution(loss, bounds, seed=1, maxiter=120, popsize=12, tol=1e-10)
    assert profile.deviances[index] == pytest.approx(best.fun, abs=0.02)


def test_a_grid_point_outside_the_interval_bounds_its_end() -> None:
    profile = onset_profile(TOTAL, linear_rise)
    cut = profile.least + 3.84
    lower, upper = profile.within(cut)
    assert lower is not None
    assert upper is not None
    assert lower < profile.best().onset < upper
    deviances = np.interp([lower, upper], profile.onsets, profile.deviances)
    assert deviances == pytest.approx([cut, cut], abs=1e-6)


def test_curves_that_fall_count_as_flat() -> None:
    falling = Counts(TOTAL.doses, TOTAL.broken[::-1].copy(), TOTAL.n[::-1].copy())
    share = falling.broken.sum() / falling.n.sum()
    flat = deviance_of(falling, np.full(6, share))
    assert onset_profile(falling, linear_rise).least == pytest.approx(flat)
