"""The numbers of a run as points of MLflow metrics: estimates, fitted thresholds, witnesses, one-second series."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chaosgate.model.result import Estimate, FitResult, Health, InjectedWindow, SeriesPoint, WitnessReading
from chaosgate.tracking.names import metric_key
from chaosgate.units import Dimension


@dataclass(frozen=True)
class Point:
    """One value of a metric. `step` is 0, or in a series the whole seconds since the fault began."""

    key: str
    value: float
    step: int = 0


def of_estimates(estimates: Iterable[Estimate], place: str = "") -> Iterator[Point]:
    """Value, interval and n of each estimate: `<place>baseline/ttft-p95_s`, `_lower`, `_upper`, `_n`.

    A change from the baseline is `<place>recovery/ttft-p95-change_s`, or `ttft-p95-change_share` where it is relative.
    """
    for estimate in estimates:
        sli = estimate.sli if estimate.change is None else f"{estimate.sli}-change"
        name = metric_key(place + estimate.at, sli, estimate.dimension)
        if estimate.value is not None:
            yield from _with_interval(name, "", estimate.value, estimate.lower, estimate.upper, estimate.n)


def of_fits(fits: Iterable[FitResult]) -> Iterator[Point]:
    """Each threshold with its interval and n: `fit/<name>_value`, `_lower`, `_upper`, `_n`; none of a refused fit."""
    for fit in fits:
        found = fit.threshold
        if found.outcome != "refused":
            name = metric_key("fit", fit.name, "number")
            yield from _with_interval(name, "_value", found.value, found.lower, found.upper, found.n)


def of_witness(seen: WitnessReading) -> Iterator[Point]:
    """What the client saw before, during and after a fault, and the requests touched: `witness/during_s`."""
    for name, value in (("before", seen.before), ("during", seen.during), ("after", seen.after)):
        yield from _finite(metric_key("witness", name, seen.dimension), value)
    yield from _finite(metric_key("witness", "applied", "count"), seen.applied)


def of_health(health: Health) -> Iterator[Point]:
    """Whether the measurement can be trusted: `health/schedule-delay-p99_s`, requests and straddlers."""
    yield from _finite(metric_key("health", "schedule-delay-p99", "duration"), health.schedule_delay_p99)
    yield from _finite(metric_key("health", "requests", "count"), health.requests)
    yield from _finite(metric_key("health", "straddlers", "count"), health.straddlers)


def of_series(
    series: Sequence[SeriesPoint], windows: Sequence[InjectedWindow], dimension: Dimension
) -> Iterator[Point]:
    """One second a step from the fault's first window to its last: dose, requests, error rate and time to first token.

    `windows` are those of one fault, `dimension` is that of its dose. At most one point a second and metric.
    """
    if not windows:
        return
    began, ended = min(window.on for window in windows), max(window.off for window in windows)
    last = -1
    for second in sorted(series, key=lambda point: point.at):
        step = math.floor(second.at - began)
        if step > last and second.at <= ended:
            last = step
            for name, value in _of_second(second, windows, dimension):
                yield from _finite(name, value, step)


def _of_second(
    second: SeriesPoint, windows: Sequence[InjectedWindow], dimension: Dimension
) -> Iterator[tuple[str, float | None]]:
    dose = next((window.dose for window in windows if window.on <= second.at < window.off), 0.0)
    yield metric_key("series", "dose", dimension), dose
    yield metric_key("series", "requests", "rate"), second.requests
    if second.requests:
        yield metric_key("series", "error-rate", "share"), second.errors / second.requests
    yield metric_key("series", "ttft-p50", "duration"), second.ttft_p50
    yield metric_key("series", "ttft-p99", "duration"), second.ttft_p99


def _with_interval(
    name: str, suffix: str, value: float | None, lower: float | None, upper: float | None, n: int
) -> Iterator[Point]:
    yield from _finite(name + suffix, value)
    yield from _finite(name + "_lower", lower)
    yield from _finite(name + "_upper", upper)
    yield from _finite(name + "_n", n)


def _finite(name: str, value: float | None, step: int = 0) -> Iterator[Point]:
    # MLflow stores NaN and infinity as numbers, and a comparison of runs would then sort by them.
    if value is not None and math.isfinite(value):
        yield Point(name, float(value), step)
