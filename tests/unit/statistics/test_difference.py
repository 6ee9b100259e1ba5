"""The interval of a difference: published figures, its symmetries, and how often it covers the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.statistics import intervals
from chaosgate.statistics.difference import Arm, Difference, difference, relative_difference
from chaosgate.statistics.intervals import Group, share_interval
from chaosgate.statistics.quantiles import RankedValues

Generator = np.random.Generator
REPETITIONS = 250
LEAST_COVERAGE = 0.92
"""Of 250 intervals of 95 %: two standard errors below."""
NUMBERS = st.floats(-1e6, 1e6)


@st.composite
def arms(draw: st.DrawFn) -> Arm:
    lower, value, upper = sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
    return Arm(value, lower, upper)


def wilson(hits: int, n: int) -> Arm:
    """Wilson's interval, from which Newcombe's method 10 starts."""
    z = 1.959964
    share = hits / n
    middle = share + z**2 / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Arm(share, (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n))


@pytest.mark.parametrize(
    ("second", "first", "lower", "upper"),
    [
        # Newcombe 1998, table II, method 10, examples (a), (b), (g) and (h).
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombe_s_published_intervals(
    second: tuple[int, int], first: tuple[int, int], lower: float, upper: float
) -> None:
    found = difference(wilson(*first), wilson(*second))
    assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=1e-4)


def test_symmetric_intervals_add_up_like_standard_errors() -> None:
    found = difference(Arm(10.0, 7.0, 13.0), Arm(20.0, 16.0, 24.0))
    assert found == Difference(10.0, 5.0, 15.0)
    assert found.direction == "higher"


def test_each_end_takes_the_side_that_matters_there() -> None:
    # Lower: the second run's lower half, the first's upper one. Upper: the other two.
    found = difference(Arm(10.0, 10.0, 14.0), Arm(20.0, 17.0, 20.0))
    assert found == Difference(10.0, 5.0, 10.0)


@given(arms(), arms())
def test_swapping_the_runs_turns_the_difference_round(first: Arm, second: Arm) -> None:
    one, other = difference(first, second), difference(second, first)
    assert (one.value, one.lower, one.upper) == pytest.approx((-other.value, -other.upper, -other.lower))  # type: ignore[operator]


@given(arms(), arms())
def test_the_interval_encloses_the_difference_and_no_more_than_all_that_is_possible(first: Arm, second: Arm) -> None:
    found = difference(first, second)
    slack = 1e-9 * max(map(abs, (*vars(first).values(), *vars(second).values(), 1.0)))
    assert second.lower - first.upper - slack <= found.lower <= found.value + slack  # type: ignore[operator]
    assert found.value - slack <= found.upper <= second.upper - first.lower + slack  # type: ignore[operator]


@given(arms())
def test_a_run_does_not_differ_from_itself(arm: Arm) -> None:
    assert difference(arm, arm).direction == "undecided"


@pytest.mark.parametrize(
    ("first", "second", "direction"),
    [
        (Arm(1.0, 0.5, None), Arm(9.0, 8.0, 9.5), "unknown"),
        (Arm(1.0, 0.5, 1.5), Arm(9.0, 8.0, None), "higher"),
        (Arm(9.0, 8.0, None), Arm(1.0, 0.5, 1.5), "lower"),
        (Arm(1.0, 0.5, 1.5), Arm(1.2, 0.9, None), "unknown"),
        (Arm(None, None, None), Arm(1.0, 0.5, 1.5), "unknown"),
        (Arm(1.0, 0.5, 1.5), Arm(None, None, None), "unknown"),
    ],
)
def test_one_end_may_decide_and_a_missing_one_never_does(first: Arm, second: Arm, direction: str) -> None:
    assert difference(first, second).direction == direction


def test_an_interval_beyond_every_number_is_higher_than_any_that_has_an_end() -> None:
    unbounded = Arm(None, math.inf, None)
    found = difference(Arm(1.0, 0.5, 1.5), unbounded)
    assert (found.value, found.lower, found.upper, found.direction) == (None, math.inf, None, "higher")
    assert difference(unbounded, Arm(1.0, 0.5, 1.5)).direction == "lower"
    assert difference(unbounded, unbounded).direction == "unknown"
    assert difference(Arm(1.0, 0.5, None), unbounded).direction == "unknown"


def test_brackets_differ_once_they_do_not_meet() -> None:
    bracket = Arm(None, 0.22, 0.26)
    assert difference(bracket, Arm(None, 0.26, 0.32)).direction == "undecided"
    apart = difference(bracket, Arm(None, 0.30, 0.32))
    assert (apart.value, apart.lower, apart.upper) == (None, pytest.approx(0.04), pytest.approx(0.10))
    assert apart.direction == "higher"


def draw_windows(random: Generator, windows: int, share: float) -> Group:
    """Windows of 40 requests whose shares vary with an intraclass correlation of 0.05."""
    spread = 0.95 / 0.05
    hits = random.binomial(40, random.beta(share * spread, (1 - share) * spread, windows))
    return Group(hits.astype(float), np.full(windows, 40.0))


def by_windows(group: Group) -> Arm:
    return Arm(group.share, *share_interval([group], [], seed=3))


def by_requests(group: Group) -> Arm:
    """As if the requests of a window were independent."""
    return wilson(int(group.hits.sum()), int(group.counts.sum()))


def delays(random: Generator, scale: float) -> Arm:
    """The P95 of 8 windows of 40 exponential delays."""
    values = [random.exponential(scale, 40) for _ in range(8)]
    ranked = RankedValues([values], [], np.sort(np.concatenate(values)))
    return Arm(ranked.value(0.95), ranked.lower(0.95), ranked.upper(0.95))


def covered(drawn: list[Difference], truth: float) -> float:
    """The share of intervals that hold the truth; an end that is missing excludes nothing."""
    return float(
        np.mean(
            [(one.lower is None or one.lower <= truth) and (one.upper is None or truth <= one.upper) for one in drawn]
        )
    )


def seen(drawn: list[Difference]) -> float:
    return float(np.mean([one.direction == "higher" for one in drawn]))


def shares(interval: Callable[[Group], Arm], windows: int, first: float, second: float) -> list[Difference]:
    random = np.random.default_rng(20)
    return [
        difference(interval(draw_windows(random, windows, first)), interval(draw_windows(random, windows, second)))
        for _ in range(REPETITIONS)
    ]


@pytest.mark.parametrize(("windows", "rise"), [(4, 0.0), (4, 0.3), (12, 0.0), (12, 0.1)])
def test_shares_are_covered_whatever_the_windows_have_in_common(
    windows: int, rise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 1000)
    drawn = shares(by_windows, windows, 0.1, 0.1 + rise)
    assert covered(drawn, rise) >= LEAST_COVERAGE
    assert seen(drawn) > 0.5 if rise else seen(drawn) < 0.05


def test_as_independent_requests_they_would_not_be() -> None:
    assert covered(shares(by_requests, 12, 0.1, 0.2), 0.1) < 0.85


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_quantiles_are_covered(scale: float) -> None:
    random = np.random.default_rng(20)
    drawn = [difference(delays(random, 1.0), delays(random, scale)) for _ in range(REPETITIONS)]
    assert covered(drawn, (scale - 1) * math.log(20)) >= LEAST_COVERAGE
    assert seen(drawn) > 0.5 if scale > 1 else seen(drawn) < 0.05


def test_a_relative_difference_is_a_ratio_less_one() -> None:
    found = relative_difference(Arm(2.0, 1.6, 2.5), Arm(3.0, 2.4, 3.6))

    assert found.value == pytest.approx(0.5)
    # On the scale of logarithms both arms are distances from ln 1.5, added as squares.
    rise = math.hypot(math.log(3.0 / 2.4), math.log(2.5 / 2.0))
    assert found.lower == pytest.approx(1.5 * math.exp(-rise) - 1)


def test_a_relative_difference_back_is_the_inverse() -> None:
    first, second = Arm(2.0, 1.6, 2.5), Arm(3.0, 2.4, 3.6)
    there, back = relative_difference(first, second), relative_difference(second, first)

    assert there.lower is not None
    assert back.upper is not None
    assert (1 + there.lower) * (1 + back.upper) == pytest.approx(1.0)


@pytest.mark.parametrize("value", [0.0, -1.0, None])
def test_nothing_is_relative_to_nothing(value: float | None) -> None:
    assert relative_difference(Arm(value, 0.0, 1.0), Arm(2.0, 1.0, 3.0)) == Difference(None, None, None)


def test_a_fall_to_zero_is_all_there_was() -> None:
    found = relative_difference(Arm(2.0, 1.6, 2.5), Arm(0.0, 0.0, 0.4))

    assert (found.value, found.lower) == (-1, -1)
    assert found.upper == pytest.approx(-0.75)
