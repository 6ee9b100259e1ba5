import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from sweeps import DOSES, SHARE, counted, knee, sweep

from chaosgate.model.fit import FITS, DoseWindow, Threshold
from chaosgate.units import Dimension


def fitted(windows: list[DoseWindow], dimension: Dimension = "duration") -> Threshold:
    return knee().fit(windows, seed=0, dimension=dimension)


def encloses(found: Threshold, truth: float) -> bool:
    """Whether the interval holds `truth`; an end that is missing is open."""
    lower = -math.inf if found.lower is None else found.lower
    upper = math.inf if found.upper is None else found.upper
    return lower <= truth <= upper


def test_the_kind_is_registered() -> None:
    assert FITS.get("logistic") is type(knee())


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_shares_that_no_curve_passes_are_refused(share: float) -> None:
    with pytest.raises(ValidationError, match=r"should be (greater|less) than"):
        knee(share)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("background", [0.0, 0.01])
def test_the_interval_holds_the_planted_threshold_and_follows_it(background: float) -> None:
    found = {truth: [fitted(sweep(truth, seed, background=background)) for seed in range(20)] for truth in (0.15, 0.26)}
    for truth, fits in found.items():
        assert all(fit.outcome == "fitted" for fit in fits)
        assert sum(encloses(fit, truth) for fit in fits) >= 17
    for low, high in zip(found[0.15], found[0.26], strict=True):
        assert low.value is not None
        assert high.value is not None
        assert high.value - low.value == pytest.approx(0.11, abs=0.05)


@pytest.mark.thorough
@pytest.mark.slow
def test_coverage_over_simulated_sweeps() -> None:
    # 92 to 95 % in 200 simulated sweeps; the bound is three standard errors of these 60 below 93 %.
    covered = sum(encloses(fitted(sweep(truth, seed)), truth) for seed in range(100, 130) for truth in (0.15, 0.26))
    assert covered >= 49


def test_a_fit_carries_its_curve_points_and_goodness() -> None:
    found = fitted(sweep(0.2, seed=1))
    assert found.value is not None
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower < found.value < found.upper
    assert (found.n, found.windows, found.reason) == (26 * 40, 26, None)
    assert [point.dose for point in found.points] == [0.0, *DOSES]
    assert [point.n for point in found.points] == [240, 160, 160, 160, 160, 160]
    assert len(found.curve) == 50
    assert all(before.share <= after.share for before, after in pairwise(found.curve))
    at_threshold = min(found.curve, key=lambda point: abs(point.dose - found.value))
    assert at_threshold.share == pytest.approx(SHARE, abs=0.05)
    assert set(found.goodness) == {"deviance", "dispersion", "background", "parameters"}
    assert found.goodness["dispersion"] >= 1


def test_noise_between_windows_widens_the_interval() -> None:
    calm = counted([(0, 0), (0.1, 2), (0.18, 10), (0.22, 20), (0.26, 30), (0.32, 38)])
    noisy = [
        DoseWindow(window.dose, window.broken + (swing if 5 < window.broken < 35 else 0), 40)
        for window, swing in zip(calm, [-8, 8] * (len(calm) // 2), strict=True)
    ]
    narrow, wide = fitted(calm), fitted(noisy)
    assert narrow.lower is not None
    assert narrow.upper is not None
    assert wide.goodness["dispersion"] > 3 * narrow.goodness["dispersion"]
    assert wide.upper is None or wide.lower is None or wide.upper - wide.lower > narrow.upper - narrow.lower


def test_stray_breaks_do_not_move_the_threshold() -> None:
    rows = [(0.0, 0), (0.1, 0), (0.18, 2), (0.22, 14), (0.26, 34), (0.32, 40)]
    clean, stray = counted(rows), counted(rows)
    stray[0] = DoseWindow(0.0, 2, 40)
    before, after = fitted(clean), fitted(stray)
    assert before.value is not None
    assert after.value == pytest.approx(before.value, abs=0.01)
    assert after.goodness["background"] > 0


def test_complete_separation_brackets_the_truth() -> None:
    found = fitted(sweep(0.24, seed=0, width=0.0005))
    assert (found.outcome, found.value, found.lower, found.upper) == ("bracketed", None, 0.22, 0.26)
    assert found.reason == "the doses separate: the threshold lies between 220ms and 260ms; no curve is drawn"
    assert found.curve == ()
    assert len(found.points) == 6


def test_quasi_complete_separation_brackets_the_mixed_dose_by_its_interval() -> None:
    surely_above = fitted(counted([(0, 0), (0.1, 0), (0.18, 15), (0.22, 40)]))
    unclear = fitted(counted([(0, 0), (0.1, 0), (0.18, 2), (0.22, 40)]))
    assert (surely_above.lower, surely_above.upper) == (0.1, 0.18)
    assert (unclear.lower, unclear.upper) == (0.1, 0.22)


def test_a_step_with_strays_is_bracketed_and_not_fitted() -> None:
    windows = counted([(0, 0), (0.1, 0), (0.18, 0), (0.22, 40), (0.26, 40)])
    windows[0] = DoseWindow(0.0, 1, 40)
    windows[-1] = DoseWindow(0.26, 39, 40)
    found = fitted(windows)
    assert (found.outcome, found.lower, found.upper) == ("bracketed", 0.18, 0.22)


@pytest.mark.parametrize(
    ("windows", "reason"),
    [
        ([], "0 of 3 doses needed hold requests, dose 0 included; add doses to the sweep"),
        (
            counted([(0, 0), (0.1, 40)]),
            "2 of 3 doses needed hold requests, dose 0 included; add doses to the sweep",
        ),
        (
            counted([(0, 0), (0.1, 9), (0.2, 40)], windows=1),
            "3 of 4 windows needed hold requests; add windows to each dose",
        ),
        (
            counted([(0, 0), (0.1, 0), (0.32, 1)]),
            "no dose up to 320ms reached 5 %: at most 2.5 % broke the bound; add larger doses",
        ),
        (
            counted([(0, 4), (0.1, 10), (0.2, 40)]),
            "every dose from 0s on reached 5 %: at least 10 % broke the bound; loosen the bound",
        ),
        (
            counted([(0, 0), (0.1, 20), (0.2, 2), (0.3, 30)]),
            "not monotone: 50 % broke the bound at 100ms and 5 % at 200ms; no threshold separates the doses",
        ),
        (
            counted([(0, 0), (0.1, 1), (0.2, 1), (0.3, 2)], n=10, windows=2),
            "8 of 10 requests needed broke the bound; hold the doses longer",
        ),
        (
            counted([(0, 0), (0.1, 0), (0.2, 10)], n=10, windows=2),
            "too few requests: the doses separate, but at none the 95 % interval lies below 5 %; hold the doses longer",
        ),
        (
            counted([(0, 1), (0.1, 1), (0.2, 1), (0.3, 2)]),
            "the share that breaks the bound does not rise significantly with the dose",
        ),
    ],
)
def test_refusals_say_why(windows: list[DoseWindow], reason: str) -> None:
    found = fitted(windows)
    assert (found.outcome, found.value, found.lower, found.upper) == ("refused", None, None, None)
    assert found.reason == reason
    assert found.curve == ()


def test_doses_are_written_in_their_own_unit() -> None:
    found = fitted(counted([(0, 0), (0.1, 0), (0.32, 1)]), dimension="share")
    assert found.reason is not None
    assert found.reason.startswith("no dose up to 32 % reached 5 %")


def test_an_end_before_the_first_dose_is_open_and_said_so() -> None:
    found = fitted(counted([(0, 1), (0.1, 4), (0.2, 10), (0.3, 22)], windows=3))
    assert found.outcome == "fitted"
    assert found.lower is None
    assert found.reason == "the lower end of the interval lies before the first dose and is open"


@pytest.mark.parametrize("window", [DoseWindow(math.nan, 0, 1), DoseWindow(0.1, 2, 1), DoseWindow(0.1, -1, 1)])
def test_impossible_windows_are_refused(window: DoseWindow) -> None:
    with pytest.raises(ValueError, match="a finite dose and 0 <= broken <= n are needed"):
        fitted([window])


def test_windows_without_requests_are_left_out() -> None:
    windows = sweep(0.2, seed=1)
    assert fitted([*windows, DoseWindow(0.5, 0, 0)]) == fitted(windows)


@settings(max_examples=150)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.4, 3.0]), st.floats(0, 1), st.integers(0, 60)), max_size=24
    ),
    rising=st.booleans(),
)
def test_any_counts_end_in_one_of_three_outcomes(rows: list[tuple[float, float, int]], rising: bool) -> None:
    factor = [dose / 3 if rising else 1.0 for dose, _, _ in rows]
    found = fitted(
        [
            DoseWindow(dose, round(part**scale * n) if scale else 0, n)
            for (dose, part, n), scale in zip(rows, factor, strict=True)
        ]
    )
    assert found.outcome in ("fitted", "bracketed", "refused")
    assert (found.value is not None) == (found.outcome == "fitted")
    assert (found.reason is None) <= (found.outcome == "fitted")
    ends = [number for number in (found.lower, found.value, found.upper) if number is not None]
    assert all(map(math.isfinite, ends))
    assert ends == sorted(ends)
