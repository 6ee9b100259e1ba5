"""The Universal Scalability Law: published data, a general optimiser, simulated sweeps, and when it must refuse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.optimize import least_squares

from chaosgate.fits.usl import Usl
from chaosgate.model.fit import DoseWindow, FitResponse, Threshold

LOADS = (1, 2, 4, 8, 16, 32, 64)
SDET = ((1, 64.9), (18, 995.9), (36, 1652.4), (72, 1853.2), (108, 1828.9), (144, 1775.0), (216, 1702.2))
"""SPEC SDM91 on a Sun: Gunther, "Guerrilla Capacity Planning" (2007), section 5.5; the peak there is at 96 users."""


def law(load: float, rate: float = 20.0, contention: float = 0.02, peak: float = 14.0) -> float:
    coherency = (1 - contention) / peak**2
    return rate * load / (1 + contention * (load - 1) + coherency * load * (load - 1))


def swept(seed: int, spread: float = 0.08, loads: Sequence[float] = LOADS, peak: float = 14.0) -> list[DoseWindow]:
    """4 windows of 5 s at each load, their rates gamma distributed around the law."""
    random = np.random.default_rng(seed)
    amounts = [
        (load, 5 * law(load, peak=peak) * random.gamma(spread**-2, spread**2)) for load in loads for _ in range(4)
    ]
    return [DoseWindow(load, 0, max(1, int(amount)), amount, 5.0) for load, amount in amounts]


def fitted(windows: Sequence[DoseWindow]) -> Threshold:
    return Usl(name="peak", kind="usl", fault="load", response=FitResponse(sli="tokens-per-second")).fit(windows, 7, "count")


def test_published_data_peak_where_they_were_published_to() -> None:
    found = fitted([DoseWindow(load, 0, 100, rate, 1.0) for load, rate in SDET])
    assert found.outcome == "fitted"
    assert found.value == pytest.approx(96.5, rel=0.05)
    assert found.goodness["r2"] > 0.98


def test_rates_without_noise_give_the_law_back() -> None:
    found = fitted([DoseWindow(load, 0, 10, 5 * law(load), 5.0) for load in LOADS])
    assert found.value == pytest.approx(14.0, rel=0.01)
    assert found.goodness["contention"] == pytest.approx(0.02, abs=0.002)
    assert found.goodness["rate at load 1"] == pytest.approx(20.0, rel=0.01)


def test_value_and_interval_are_those_of_an_optimiser() -> None:
    windows = swept(5)
    loads = np.array([one.dose for one in windows])
    logs = np.log([(one.amount or 0.0) / one.seconds for one in windows])

    def squares(peak: float) -> float:
        def off(parameters: np.ndarray) -> np.ndarray:
            log_rate, contention = parameters
            return np.asarray(np.log([law(load, np.exp(log_rate), contention, peak) for load in loads]) - logs)

        return 2 * float(least_squares(off, [3.0, 0.05], bounds=([-5, 0], [9, 0.999]), xtol=1e-12).cost)

    found = fitted(windows)
    assert found.value is not None
    assert found.lower is not None
    assert found.upper is not None
    freedom = len(windows) - 3
    cut = squares(found.value) * (1 + 4.2417 / freedom)  # F(1, 25) at 95 %, from a printed table: 4.24
    assert squares(found.value) <= min(squares(found.value * 0.98), squares(found.value * 1.02))
    assert [squares(found.lower), squares(found.upper)] == pytest.approx([cut, cut], rel=0.01)


def test_the_planted_peak_lies_in_nearly_every_interval() -> None:
    found = [fitted(swept(seed)) for seed in range(40)]
    covered = sum(one.lower is not None and one.upper is not None and one.lower <= 14 <= one.upper for one in found)
    assert covered >= 34


def test_windows_at_load_zero_and_without_amounts_are_left_out() -> None:
    windows = swept(1)
    assert fitted([*windows, DoseWindow(0.0, 0, 9, 5.0, 5.0), DoseWindow(3.0, 0, 9)]) == fitted(windows)


@pytest.mark.parametrize(
    ("windows", "reason"),
    [
        ([], "0 of 4 loads above 0 needed brought a rate; add doses to the sweep"),
        (swept(1, loads=(1, 2, 4, 8)), "throughput still rises at the last load, 8, which is only a lower bound"),
        (swept(1, loads=(24, 32, 48, 64)), "throughput falls from the first load on, 24, which is only an upper"),
        (swept(1)[::6], "5 of 6 windows needed brought a rate"),
    ],
)
def test_refusals_say_why(windows: list[DoseWindow], reason: str) -> None:
    found = fitted(windows)
    assert (found.outcome, found.value, found.lower, found.upper) == ("refused", None, None, None)
    assert found.reason is not None
    assert found.reason.startswith(reason)


def test_rates_that_follow_no_such_law_are_refused() -> None:
    jump = {1: 20.0, 2: 20.0, 4: 20.0, 8: 300.0, 16: 300.0, 32: 20.0, 64: 250.0}
    random = np.random.default_rng(2)
    windows = [
        DoseWindow(load, 0, 50, 5 * rate * random.gamma(2500, 1 / 2500), 5.0)
        for load, rate in jump.items()
        for _ in range(4)
    ]
    reason = fitted(windows).reason
    assert reason is not None
    assert "the law does not fit" in reason or "only a lower bound" in reason


def test_an_amount_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="a finite dose, n >= 0 and a finite amount are needed"):
        fitted([DoseWindow(1.0, 0, 1, float("nan"), 1.0)])
