"""Studies of a gate's history: how often an ordinary run warns, and whether a trend's interval holds its slope."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from coverage_simulate import Random
from coverage_study import Study, Trial, event

from chaosgate.report.history import FAIL_TAIL, WARN_TAIL
from chaosgate.statistics.band import PastValues
from chaosgate.statistics.trend import trend_of

SPREAD = 0.03
"""From run to run, as a part of the number."""


def beyond(runs: int, tail: float) -> Callable[[Random], Trial]:
    """Whether a run like those before it is worse than their band."""

    def simulate(random: Random) -> Trial:
        values = 0.2 * np.exp(SPREAD * random.standard_normal(runs + 1))
        return event(bool(values[-1] > PastValues(values[:-1]).band(tail)[1]))

    return simulate


def slopes(versions: int, slope: float) -> Callable[[Random], Trial]:
    """The trend of thresholds that change by `slope` from one version to the next."""

    def simulate(random: Random) -> Trial:
        values = 0.2 + slope * np.arange(versions) + 0.2 * SPREAD * random.standard_normal(versions)
        found = trend_of(values.tolist())
        if found is None:
            return Trial(slope, refused="too few versions")
        return Trial(slope, found.slope, found.lower, found.upper)

    return simulate


def studies() -> Iterator[Study]:
    """A short and a long history, and trends of few and many versions."""
    for runs in (3, 5, 20):
        name = f"warns, {runs} runs before it"
        yield Study("history_false_alarms", name, beyond(runs, WARN_TAIL), event=True)
    yield Study("history_false_alarms", "fails, 5 runs before it", beyond(5, FAIL_TAIL), event=True)
    for versions, slope in ((5, 0.0), (8, -0.004), (20, -0.001)):
        name = f"{versions} versions, {1e3 * slope:g} ms a version"
        yield Study("coverage_trend", name, slopes(versions, slope), "ms", 1e3)
