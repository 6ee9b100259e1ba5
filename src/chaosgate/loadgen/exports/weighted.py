"""Distributions of weighted values and of what happens over time, as GuideLLM summarises them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from chaosgate.statistics.arrays import Floats

Pairs = Sequence[tuple[float, float]]
"""Values with weights, times with amounts, or begins with ends."""

PERCENTILES = {
    "p001": 0.001,
    "p01": 0.01,
    "p05": 0.05,
    "p10": 0.1,
    "p25": 0.25,
    "p50": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p999": 0.999,
}
NEAR = 1e-4
"""Seconds within which GuideLLM takes two events for one."""
LEAST = 1e-6
"""Seconds that the last event of a stretch lasts at least."""


def distribution(pairs: Pairs, count: int | None = None) -> dict[str, Any]:
    """The summary of values with weights; all 0 without values. `count` is the sum of the weights unless given."""
    values, weights = _merged(pairs)
    counted = round(sum(weight for _, weight in pairs)) if count is None else count
    if not len(values):
        names = ("mean", "median", "mode", "variance", "std_dev", "min", "max", "total_sum")
        return {**dict.fromkeys(names, 0.0), "count": counted, "percentiles": dict.fromkeys(PERCENTILES, 0.0)}
    shares = weights / weights.sum()
    mean = float((values * shares).sum())
    variance = float(((values - mean) ** 2 * shares).sum())
    ranks = np.minimum(np.searchsorted(np.cumsum(shares), list(PERCENTILES.values())), len(values) - 1)
    percentiles = dict(zip(PERCENTILES, map(float, values[ranks]), strict=True))
    return {
        "mean": mean,
        "median": percentiles["p50"],
        "mode": float(values[np.argmax(shares)]),
        "variance": variance,
        "std_dev": math.sqrt(variance),
        "min": float(values[0]),
        "max": float(values[-1]),
        "count": counted,
        "total_sum": mean * counted,
        "percentiles": percentiles,
    }


def paced(events: Pairs, begin: float, end: float) -> dict[str, Any]:
    """The rate at which amounts came between `begin` and `end`: each lasts until halfway to its neighbours."""
    within = [(at, amount) for at, amount in events if begin <= at <= end]
    times, amounts = _joined([(begin, 0.0), *within, (end, 0.0)])
    if len(times) < 2:
        return distribution([], len(times))
    edges = np.concatenate(([times[0]], (times[1:] + times[:-1]) / 2, [times[-1]]))
    lasting = np.diff(edges)
    lasting[-1] = max(lasting[-1], LEAST)
    rates = list(zip(amounts / lasting, lasting, strict=True))
    return distribution(rates, round(float(amounts.sum())))


def busy(spans: Pairs, begin: float, end: float) -> dict[str, Any]:
    """How many of `spans`, each from its begin to its end, were on at once between `begin` and `end`, over time."""
    changes = [change for start, stop in spans for change in ((start, 1.0), (stop, -1.0))]
    if not changes:
        return distribution([], 0)
    times, steps = _joined(changes)
    before = float(steps[times < begin].sum())
    kept = (times >= begin) & (times <= end)
    times = np.concatenate(([begin], times[kept], [end]))
    levels = np.clip(np.cumsum(np.concatenate(([before], steps[kept], [0.0]))), 0, None)
    lasting = np.clip(np.diff(times), 0, None)
    pairs = list(zip(levels[:-1], lasting, strict=True)) if (lasting > 0).any() else []
    return distribution(pairs, len(spans))


def _merged(pairs: Pairs) -> tuple[Floats, Floats]:
    """Each value once, sorted, with its whole weight; those without weight are left out unless none has any."""
    given = np.array(pairs, dtype=float).reshape(-1, 2)
    values, places = np.unique(given[:, 0], return_inverse=True)
    weights = np.zeros(len(values))
    np.add.at(weights, places, given[:, 1])
    if weights.sum() <= LEAST:
        return values[weights > 0], np.ones(int((weights > 0).sum()))
    return values[weights > 0], weights[weights > 0]


def _joined(events: Pairs) -> tuple[Floats, Floats]:
    """Times in order with what came at each; those NEAR the first of a group are taken as one with it."""
    times: list[float] = []
    amounts: list[float] = []
    for at, amount in sorted(events):
        if times and at - times[-1] <= NEAR:
            amounts[-1] += amount
        else:
            times.append(at)
            amounts.append(amount)
    return np.array(times), np.array(amounts)
