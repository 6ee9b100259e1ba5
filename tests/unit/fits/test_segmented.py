"""The knee of three straight segments: on simulated sweeps, and when there is none."""

from __future__ import annotations

import pytest
from onsets import RESPONSE, growth, hockey_stick, swept
from sweeps import counted

from chaosgate.fits.segmented import Segmented
from chaosgate.model.fit import DoseWindow, Threshold


def fitted(windows: list[DoseWindow]) -> Threshold:
    return Segmented(name="knee", kind="segmented", fault="slow-wire", response=RESPONSE).fit(windows, 7, "duration")


def test_the_planted_knee_lies_in_nearly_every_interval() -> None:
    curve, covered = hockey_stick(0.17, 0.2, 0.02, 0.9), 0
    for seed in range(20):
        found = fitted(swept(curve, seed))
        lower, upper = found.lower or 0.0, found.upper or 1.0
        assert found.outcome == "fitted"
        covered += lower <= 0.17 <= upper
    # Binomial with 95 % of 20: fewer than 16 in one of 390 suites.
    assert covered >= 16


def test_a_fit_says_how_it_fits() -> None:
    found = fitted(swept(hockey_stick(0.17, 0.2, 0.02, 0.9), 3))
    assert found.value is not None
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower < found.value < found.upper
    assert set(found.goodness) == {"deviance", "dispersion", "width", "floor", "parameters"}
    assert found.goodness["floor"] == pytest.approx(0.02, abs=0.02)
    assert found.goodness["dispersion"] >= 1
    assert len(found.curve) == 50


def test_what_it_finds_is_said_in_words() -> None:
    fit = Segmented(name="knee", kind="segmented", fault="slow-wire", response=RESPONSE)
    assert fit.finds() == "the share of requests that break ttft <= 300ms begins to rise"


def test_a_step_between_two_doses_is_bracketed() -> None:
    found = fitted(counted([(0, 0), (0.1, 0), (0.2, 20), (0.3, 20)]))
    assert (found.outcome, found.value, found.curve) == ("bracketed", None, ())
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower == pytest.approx(0.1, abs=0.01)
    assert found.upper == pytest.approx(0.2, abs=0.01)
    assert found.reason is not None
    assert found.reason.startswith("the doses separate: no dose lies on the rise, which begins between")


@pytest.mark.parametrize(
    ("windows", "reason"),
    [
        (counted([(0, 0), (0.1, 5), (0.2, 9)]), "3 of 4 doses needed hold requests"),
        (counted([(0, 0), (0.1, 9), (0.2, 20), (0.3, 30)], windows=1), "4 of 5 windows needed hold requests"),
        (counted([(0, 0), (0.1, 20), (0.2, 2), (0.3, 30)]), "not monotone: 50 % broke the bound at 100ms"),
        (counted([(0, 0), (0.1, 0), (0.2, 1), (0.3, 1)]), "8 of 10 requests needed broke the bound"),
        (counted([(0, 1), (0.1, 1), (0.2, 1), (0.3, 1)]), "the share that breaks the bound does not rise signif"),
        (
            counted([(0, 1), (0.1, 9), (0.2, 17), (0.3, 25), (0.4, 33)]),
            "the share rises from the first dose on, 0s, which is only an upper bound; add smaller doses",
        ),
        (
            counted([(0, 1), (0.1, 1), (0.2, 1), (0.3, 1), (0.4, 12)]),
            "the share rises at the last dose alone: 300ms is only a lower bound; add larger doses",
        ),
    ],
)
def test_refusals_say_why(windows: list[DoseWindow], reason: str) -> None:
    found = fitted(windows)
    assert (found.outcome, found.value, found.lower, found.upper) == ("refused", None, None, None)
    assert found.reason is not None
    assert found.reason.startswith(reason)


@pytest.mark.thorough
@pytest.mark.parametrize("curve", [hockey_stick(0.2, 0.12, 0.02, 1.0), growth(0.2, 0.05, 0.05)])
def test_any_seed_ends_in_one_of_three_outcomes(curve: object) -> None:
    for seed in range(30):
        found = fitted(swept(curve, seed))  # type: ignore[arg-type]
        assert (found.value is not None) == (found.outcome == "fitted")
