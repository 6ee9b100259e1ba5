import numpy as np
import pytest

from chaosgate.statistics.bracket import Bracket, bracket, separates
from chaosgate.statistics.likelihood import Counts


def counts(*broken: int, n: int = 160) -> Counts:
    """One window at each of the doses 0, 0.1, 0.2..."""
    size = len(broken)
    return Counts(np.arange(size) / 10, np.array(broken, dtype=float), np.full(size, float(n)))


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ((0, 0, 160, 160), True),
        ((0, 0, 40, 160), True),
        ((1, 0, 160, 160), True),
        ((1, 0, 160, 159), True),
        ((0, 1, 40, 160), False),
        ((0, 0, 40, 159), False),
        ((5, 0, 160, 160), False),
        ((0, 160, 0, 160), False),
    ],
)
def test_separation(broken: tuple[int, ...], expected: bool) -> None:
    assert separates(counts(*broken), 0.05) is expected


def test_bracket_reaches_over_a_dose_whose_interval_holds_the_share() -> None:
    assert bracket(counts(0, 0, 8, 160), 0.05) == Bracket(0.1, 0.3)
    assert bracket(counts(0, 0, 40, 160), 0.05) == Bracket(0.1, 0.2)


def test_bracket_stops_at_the_first_dose_that_is_not_surely_below() -> None:
    assert bracket(counts(8, 0, 160, 160), 0.05).lower is None


def test_bracket_lacks_a_side_that_no_dose_is_surely_on() -> None:
    assert bracket(counts(0, 0, 2, n=2), 0.5) == Bracket(None, None)


def test_noise_between_the_windows_of_a_dose_makes_it_less_sure() -> None:
    even = Counts(np.repeat([0.0, 0.1, 0.2], 4), np.array([0] * 4 + [5] * 4 + [40] * 4, dtype=float), np.full(12, 40.0))
    noisy = Counts(even.doses, np.array([0] * 4 + [0, 0, 0, 20] + [40] * 4, dtype=float), even.n)
    assert bracket(even, 0.05) == Bracket(0.0, 0.1)
    assert bracket(noisy, 0.05) == Bracket(0.0, 0.2)
