"""The critical load: on simulated sweeps, and when there is none."""

from __future__ import annotations

import pytest
from onsets import RESPONSE, growth, swept
from sweeps import counted

from chaosgate.fits.phase_change import PhaseChange
from chaosgate.model.fit import DoseWindow, Threshold


def fitted(windows: list[DoseWindow]) -> Threshold:
    fit = PhaseChange(name="critical", kind="phase-change", fault="slow-wire", response=RESPONSE)
    return fit.fit(windows, 7, "duration")


def test_the_planted_load_lies_in_nearly_every_interval() -> None:
    curve, covered, found_any = growth(0.18, 0.06, 0.04), 0, 0
    for seed in range(20):
        found = fitted(swept(curve, seed))
        if found.outcome != "fitted":
            continue
        found_any += 1
        covered += (found.lower or 0.0) <= 0.18 <= (found.upper or 1.0)
    assert found_any >= 15
    assert covered >= found_any - 3


def test_the_floor_and_the_width_are_those_of_the_curve() -> None:
    rows = [(dose, round(2000 * growth(0.2, 0.06, 0.04)(dose))) for dose in (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35)]
    found = fitted(counted(rows, n=2000))
    assert found.outcome == "fitted"
    assert found.value == pytest.approx(0.2, abs=0.005)
    assert found.goodness["floor"] == pytest.approx(0.04, abs=0.002)
    assert found.goodness["width"] == pytest.approx(0.06, rel=0.05)


@pytest.mark.parametrize(
    ("windows", "reason"),
    [
        (counted([(0, 0), (0.1, 5), (0.2, 9)]), "3 of 4 doses needed hold requests"),
        (counted([(0, 1), (0.1, 1), (0.2, 1), (0.3, 1)]), "the share that breaks the bound does not rise signif"),
        (counted([(0, 1), (0.1, 1), (0.2, 1), (0.3, 9)]), "the share rises at the last dose alone: 200ms is only"),
        (counted([(0, 1), (0.1, 3), (0.2, 9), (0.3, 27)]), "the share rises from the first dose on, 0s"),
    ],
)
def test_refusals_say_why(windows: list[DoseWindow], reason: str) -> None:
    found = fitted(windows)
    assert (found.outcome, found.value) == ("refused", None)
    assert found.reason is not None
    assert found.reason.startswith(reason)
