"""Gauges over a phase and window by window, and which of them could not be read."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chaosgate.estimate.data import PhaseData, RunData
from chaosgate.model.blocks import SETTLE
from chaosgate.model.fault import ClusterFault, GaugeName, GaugeWitness
from chaosgate.model.gauges import CORE_METRICS, LARGEST_ORDER, prometheus_gauge
from chaosgate.model.observation import Gauge, Window, cluster_gauge
from chaosgate.model.result import GaugeSeries

STALE = 3.0
"""Seconds after which a reading says nothing of the present any more: measure reads each second."""


SHOWN = (*CORE_METRICS, LARGEST_ORDER)
"""The gauges that a report always shows."""


@dataclass(frozen=True)
class Readings:
    """One gauge over a phase: times on the gateway's clock, ascending, and values."""

    at: Sequence[float]
    values: Sequence[float]

    def level(self, at: float) -> float | None:
        """The last reading at or before `at`, None where there is none that is fresh."""
        place = bisect_right(self.at, at) - 1
        return self.values[place] if place >= 0 and at - self.at[place] <= STALE else None

    def between(self, start: float, end: float) -> list[float]:
        """The readings from `start` to `end`."""
        return [value for at, value in zip(self.at, self.values, strict=True) if start <= at <= end]


def readings(gauges: Iterable[Gauge], name: str) -> Readings:
    """The readings of the gauge called `name` among `gauges`."""
    found = sorted((one.at, one.value) for one in gauges if one.name == name and one.value is not None)
    return Readings([at for at, _ in found], [value for _, value in found])


def read_gauge(run: RunData, phase: str, fault: str, gauge: GaugeName) -> Readings:
    """The readings of one gauge of the target of `fault` in one phase."""
    return readings(run.phases[phase].gauges if phase in run.phases else (), cluster_gauge(fault, gauge))


def shown_gauges(run: RunData) -> Iterator[GaugeSeries]:
    """The gauges of `SHOWN`, of the spec's queries and stop conditions, over all phases; none without readings."""
    body = run.spec.spec
    named = [reading.gauge for stop in body.safety.stop_when for reading in stop.readings if reading.gauge is not None]
    every = [gauge for phase in run.phases.values() for gauge in phase.gauges]
    for name in dict.fromkeys((*SHOWN, *map(prometheus_gauge, body.metrics.queries), *named)):
        found = readings(every, name)
        if found.at:
            yield GaugeSeries(name=name, at=tuple(found.at), values=tuple(found.values))


def missing_gauges(phases: Mapping[str, PhaseData]) -> Iterator[str]:
    """What could not be read, one sentence each: in which phases, why, and how much was read there all the same."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for name, phase in phases.items():
        for one in sorted(phase.gauges, key=lambda gauge: (gauge.at, gauge.name)):
            if one.value is None:
                lacking.setdefault((one.name, one.reason or "it gave no reason"), []).append(name)
    for (gauge, reason), where in lacking.items():
        read = sum(_belongs(one, gauge) for name in set(where) for one in phases[name].gauges)
        but = f" ({read} readings there all the same)" if read else ""
        yield f"{gauge} in {', '.join(dict.fromkeys(where))}: {reason}{but}"


def _belongs(reading: Gauge, missing: str) -> bool:
    """Whether a reading is of the gauge, or of the source such as `vllm:*` or `gpu`, that is missing at times."""
    source = missing.removesuffix("*").rstrip(":") + ":"
    return reading.value is not None and (reading.name == missing or reading.name.startswith(source))


def window_values(run: RunData, fault: str, witness: GaugeWitness, window: Window) -> list[float]:
    """What a window says: each reading within it, or for a `rise` one number; none where nothing was read."""
    readings = read_gauge(run, window.phase, fault, witness.gauge)
    if witness.statistic == "mean":
        return readings.between(window.start + SETTLE, window.end)
    before, after = readings.level(window.start), readings.level(window.end)
    return [] if before is None or after is None else [after - before]


def whole_again(run: RunData, fault: ClusterFault, window: Window, until: float) -> float | None:
    """Seconds until as many pods of the target were ready as when `window` began.

    Counted from its beginning where the fault heals, which is when it struck, else from its end, when it was undone.
    None where they never were fewer up to `until`, infinite where they did not become as many again.
    """
    ready = read_gauge(run, window.phase, fault.name, "ready")
    level = ready.level(window.start)
    later = [one for one in zip(ready.at, ready.values, strict=True) if window.start < one[0] <= until]
    fewer = next((at for at, value in later if level is not None and value < level), None)
    if level is None or fewer is None:
        return None
    since = window.start if fault.goes == "healed" else window.end
    return next((max(0.0, at - since) for at, value in later if at > fewer and value >= level), math.inf)
