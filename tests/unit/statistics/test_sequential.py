from __future__ import annotations

import numpy as np
import pytest

from chaosgate.statistics.sequential import ALARM, alarm_at, settled_after


def test_requests_that_break_one_after_the_other_tell_soon() -> None:
    # One broken request multiplies the ratio by 1 / 0.05 = 20 at most, and the mean of nine shares by 10.5 or so.
    assert alarm_at([True] * 10, 0.05) == 2
    assert alarm_at([False] * 50 + [True] * 20, 0.05) is not None


@pytest.mark.parametrize("broken", [[], [True], [False] * 500, [True] + [False] * 99])
def test_what_is_usual_tells_nothing(broken: list[bool]) -> None:
    assert alarm_at(broken, 0.05) is None
    assert settled_after(broken, 0.05) == 0


def test_false_alarms_are_as_rare_as_said() -> None:
    random = np.random.default_rng(1)
    alarms = [alarm_at(list(random.random(300) < 0.05), 0.05) is not None for _ in range(400)]

    # Of 400 runs 4 are expected at most; 10 or more come once in 120.
    assert sum(alarms) < 2.5 * ALARM * 400


def test_a_small_rise_is_told_in_the_end() -> None:
    random = np.random.default_rng(2)
    assert alarm_at(list(random.random(400) < 0.2), 0.05) is not None


def test_the_end_of_a_broken_stretch_is_found() -> None:
    assert settled_after([True] * 12 + [False] * 60, 0.05) == 12
    assert settled_after([True, False] * 10 + [False] * 60, 0.05) == 19


def test_what_is_broken_to_the_end_has_not_settled() -> None:
    assert settled_after([False] * 20 + [True] * 20, 0.05) is None
