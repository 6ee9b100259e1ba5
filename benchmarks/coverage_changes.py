"""Studies of change points: how often a planted change is found near its place, and one where nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from coverage_simulate import Random
from coverage_study import Study, Trial, event

from chaosgate.statistics.change_points import change_points

NEAR = 2
"""Windows that a change may be found away from where it was planted."""
Noise = Callable[[Random, int], np.ndarray]
"""So many windows of one level, with mean 0 and standard deviation 1."""


@dataclass(frozen=True)
class Series:
    """A series of windows; its level rises by `rise` standard deviations of a window, somewhere in its middle half."""

    noise: Noise
    rise: float
    windows: int = 40

    def found(self, random: Random) -> Trial:
        """Whether a change is found within NEAR windows of the planted one."""
        at = int(random.integers(self.windows // 4, 3 * self.windows // 4))
        values = self.noise(random, self.windows)
        values[at:] += self.rise
        changes = change_points(values, int(random.integers(2**31)))
        return event(any(abs(change.at - at) <= NEAR for change in changes))

    def alarmed(self, random: Random) -> Trial:
        """Whether any change is found in a series without one."""
        return event(bool(change_points(self.noise(random, self.windows), int(random.integers(2**31)))))


def normal(random: Random, n: int) -> np.ndarray:
    """Windows that average many requests."""
    return random.standard_normal(n)


def skewed(random: Random, n: int) -> np.ndarray:
    """Lognormal windows, as those of a high percentile are."""
    spread = 0.6
    mean, deviation = np.exp(spread**2 / 2), np.sqrt((np.exp(spread**2) - 1) * np.exp(spread**2))
    return (np.exp(spread * random.standard_normal(n)) - mean) / deviation


def remembering(random: Random, n: int) -> np.ndarray:
    """Windows too short to forget each other: an autoregressive series of lag 1 with a correlation of 0.5."""
    values = random.standard_normal(n)
    for index in range(1, n):
        values[index] = 0.5 * values[index - 1] + np.sqrt(0.75) * values[index]
    return values


def studies() -> Iterator[Study]:
    """Both figures, with windows of several distributions."""
    for name, noise, rise, right in (
        ("3 deviations, normal windows", normal, 3.0, True),
        ("3 deviations, skewed windows", skewed, 3.0, True),
        ("5 deviations, normal windows", normal, 5.0, True),
        ("2 deviations, normal windows", normal, 2.0, False),
    ):
        yield Study("change_points_found", name, Series(noise, rise).found, event=True, right=right)
    for name, series, right in (
        ("40 normal windows", Series(normal, 0), True),
        ("40 skewed windows", Series(skewed, 0), True),
        ("100 normal windows", Series(normal, 0, 100), True),
        ("40 windows correlated by 0.5", Series(remembering, 0), False),
    ):
        yield Study("change_points_false_alarms", name, series.alarmed, event=True, right=right)
