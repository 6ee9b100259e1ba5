"""Windows with the numbers that an SLI gives for their requests, and the rate or the mean that they come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from chaosgate.estimate.known import Asked, asked
from chaosgate.model.observation import Window
from chaosgate.model.sli import Sli
from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.means import Batch, mean_interval, window_interval
from chaosgate.statistics.rates import Amounts, rate_interval

Measured = Sequence[tuple[Window, Floats]]
"""Windows, each with the adjusted values of its requests; a request may have none, one or several.

Of an SLI of the statistic `set` a window has one number, or none where it is too small to have one.
"""
Level = tuple[float, float, float]
"""A value with the lower and the upper end of its 95 % interval."""


def measure(kind: type[Sli], windows: Iterable[Window]) -> Measured:
    """Each of `windows` with its values, of none where no request counts."""
    return [(window, _values(kind, window)) for window in windows]


def _values(kind: type[Sli], window: Window) -> Floats:
    values: Floats | None = window.worked_out.get(kind)
    if values is None:
        values = window.worked_out[kind] = _work_out(kind, window)
        # All who ask share it.
        values.flags.writeable = False
    return values


def _work_out(kind: type[Sli], window: Window) -> Floats:
    if kind.statistic == "set":
        number = kind.of(window.samples)
        return np.array([] if number is None else [number], dtype=float)
    return np.fromiter(kind.adjusted_values(window.samples), dtype=float)


def by_prompt(kind: type[Sli], window: Window) -> Sequence[tuple[Asked, float]]:
    """What each request of `window` that counts was asked, and its adjusted value."""
    key = kind, "by prompt"
    if key not in window.worked_out:
        found = ((asked(sample.observation), kind.adjusted(sample)) for sample in window.samples)
        window.worked_out[key] = [(prompt, value) for prompt, value in found if value is not None]
    known: Sequence[tuple[Asked, float]] = window.worked_out[key]
    return known


def pooled_values(measured: Measured) -> Floats:
    """The values of all windows together, sorted."""
    return np.sort(np.concatenate([values for _, values in measured])) if measured else np.empty(0)


def level_of(kind: type[Sli], strata: Sequence[Measured], borrowed: Sequence[Measured]) -> Level:
    """The rate or the mean of the values of all windows of `strata`, each of which has a value where a mean is asked.

    For the statistics `rate`, `mean` and `set`.
    """
    if kind.statistic == "rate":
        return rate_of(strata, borrowed)
    own, alike = [_batch(stratum) for stratum in strata], [_batch(group) for group in borrowed if group]
    values = np.concatenate([value for each in own for value in each.windows])
    bounded = kind.dimension == "share"
    if kind.statistic == "set":
        n = sum(whole_answers(window) for stratum in strata for window, _ in stratum)
        lower, upper = window_interval(own, alike, bounded, n)
    else:
        lower, upper = mean_interval(own, alike, bounded)
    # Symmetric around a small mean, an interval may reach below what the numbers can be.
    least = 0.0 if kind.dimension in ("duration", "count") else lower
    return float(values.mean()), max(lower, least), upper


def whole_answers(window: Window) -> int:
    """How many requests of `window` got a whole answer."""
    return sum(sample.observation.outcome == "ok" for sample in window.samples)


def _batch(group: Measured) -> Batch:
    return Batch([values for _, values in group])


def rate_of(strata: Sequence[Measured], borrowed: Sequence[Measured]) -> Level:
    """What the values of all windows of `strata` come to a second, with its 95 % interval."""
    own = [_amounts(stratum) for stratum in strata]
    pooled = np.concatenate([values for stratum in strata for _, values in stratum])
    total = float(pooled.sum())
    size = float((pooled**2).sum()) / total if total else 1.0
    events = float(np.count_nonzero(pooled))
    lower, upper = rate_interval(own, [_amounts(group) for group in borrowed if group], events, size)
    return total / sum(float(each.lengths.sum()) for each in own), lower, upper


def _amounts(group: Measured) -> Amounts:
    sums = [float(values.sum()) for _, values in group]
    return Amounts(np.array(sums), np.array([window.end - window.start for window, _ in group]))
