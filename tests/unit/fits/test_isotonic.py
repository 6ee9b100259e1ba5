"""The isotonic crossing: against a constrained optimiser, on simulated sweeps, and when it must refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sweeps import DOSES, counted, knee, sweep

from chaosgate.fits.isotonic import Isotonic
from chaosgate.model.fit import DoseWindow, Threshold
from chaosgate.statistics.dose_response import counts_of
from chaosgate.statistics.isotonic import _crossing_before, crossing, rising_shares
from chaosgate.statistics.likelihood import deviance_of


def fitted(windows: list[DoseWindow], share: float = 0.05) -> Threshold:
    response = knee(share).response
    return Isotonic(name="knee", kind="isotonic", fault="slow-wire", response=response).fit(windows, 7, "duration")


def test_shares_that_fall_are_pooled_and_the_crossing_is_on_the_line() -> None:
    total = counts_of([DoseWindow(dose, broken, 10) for dose, broken in ((0, 1), (1, 3), (2, 2), (3, 5))])
    shares = rising_shares(total)
    assert shares == pytest.approx([0.1, 0.25, 0.25, 0.5])
    assert crossing(total.doses, shares, 0.4) == pytest.approx(2.6)
    assert crossing(total.doses, shares, 0.25) == pytest.approx(1.0)


@pytest.mark.parametrize("first", range(7))
def test_the_constrained_shares_are_those_of_an_optimiser(first: int) -> None:
    total, share = counts_of(sweep(0.2, seed=4, background=0.02)).by_dose(), 0.1
    found = _crossing_before(total, share, first)

    # Sums of squares of steps rise by themselves; a penalty holds them on their side of the share.
    def loss(steps: np.ndarray) -> float:
        shares = np.clip(np.cumsum(steps), 1e-9, 1 - 1e-9)
        return deviance_of(total, shares)

    sides = [
        {"type": "ineq", "fun": lambda steps: share - np.cumsum(steps)[:first]},
        {"type": "ineq", "fun": lambda steps: np.cumsum(steps)[first:] - share},
        {"type": "ineq", "fun": lambda steps: 1 - steps.sum()},
    ]
    start = np.diff(np.clip(found, 1e-3, 1 - 1e-3), prepend=0.0)
    best = minimize(
        loss, start, bounds=[(0, 1)] * len(start), constraints=sides, method="SLSQP", options={"maxiter": 500}
    )
    assert deviance_of(total, np.clip(found, 1e-9, 1 - 1e-9)) <= best.fun + 1e-3


def test_the_interval_reaches_from_dose_to_dose_around_the_truth() -> None:
    doses = {0.0, *DOSES}
    for seed in range(20):
        found = fitted(sweep(0.2, seed))
        assert found.outcome == "fitted"
        assert found.lower in doses
        assert found.upper in doses
        assert found.value is not None
        assert found.lower is not None
        assert found.upper is not None
        assert found.lower <= 0.2 <= found.upper
        assert found.lower <= found.value <= found.upper


def test_more_windows_make_it_as_narrow_as_two_doses_and_no_narrower() -> None:
    found = fitted(counted([(0, 0), (0.1, 0), (0.18, 0), (0.22, 20), (0.26, 35), (0.32, 40)], windows=40))
    assert (found.lower, found.upper) == (0.18, 0.22)
    assert found.goodness["parameters"] == 4
    assert [point.share for point in found.curve] == sorted(point.share for point in found.curve)


def test_noise_between_windows_widens_the_interval() -> None:
    rows = [(0, 0), (0.1, 1), (0.18, 7), (0.22, 12), (0.26, 20), (0.32, 38)]
    calm = counted(rows)
    swings = [-9, 9] * (len(calm) // 2)
    noisy = [
        DoseWindow(one.dose, one.broken + (swing if 9 < one.broken < 31 else 0), 40)
        for one, swing in zip(calm, swings, strict=True)
    ]
    narrow, wide = fitted(calm, 0.3), fitted(noisy, 0.3)
    assert (narrow.lower, narrow.upper) == (0.18, 0.26)
    assert wide.lower is not None
    assert narrow.lower is not None
    assert wide.lower < narrow.lower or wide.upper is None or wide.upper > 0.26


@pytest.mark.parametrize(
    ("windows", "reason"),
    [
        ([], "0 of 3 doses needed hold requests"),
        (counted([(0, 0), (0.1, 0), (0.32, 1)]), "no dose up to 320ms reached 5 %"),
        (counted([(0, 4), (0.1, 10), (0.2, 40)]), "every dose from 0s on reached 5 %"),
        (counted([(0, 0), (0.1, 20), (0.2, 2), (0.3, 30)]), "not monotone: 50 % broke the bound at 100ms"),
        (counted([(0, 0), (0.1, 1), (0.2, 2)], windows=3), "9 of 10 requests needed broke the bound"),
        (counted([(0, 1), (0.1, 1), (0.2, 1), (0.3, 3)]), "5 % is reached at the last dose alone, 300ms, and not"),
    ],
)
def test_refusals_say_why(windows: list[DoseWindow], reason: str) -> None:
    found = fitted(windows)
    assert (found.outcome, found.value, found.lower, found.upper) == ("refused", None, None, None)
    assert found.reason is not None
    assert found.reason.startswith(reason)


def test_a_last_dose_that_surely_passes_the_share_is_an_upper_end() -> None:
    found = fitted(counted([(0, 0), (0.1, 0), (0.2, 0), (0.3, 20)]))
    assert (found.outcome, found.lower, found.upper) == ("fitted", 0.2, 0.3)
