"""How soon the requests themselves tell that a fault breaks an SLI's bound, and how soon after it they keep it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.estimate.breaks import breaks, broken_by_window
from chaosgate.estimate.changes import margin_bound
from chaosgate.estimate.objectives import Estimator
from chaosgate.estimate.requests import Request
from chaosgate.estimate.windows import Recovery, RunWindows
from chaosgate.model.comparison import DetectionTime, RecoveryTime, Times
from chaosgate.model.fault import Fault
from chaosgate.model.observation import Sample, Window
from chaosgate.model.sli import SliRef, resolve_sli
from chaosgate.statistics.intervals import Group, share_interval
from chaosgate.statistics.sequential import alarm_at, settled_after
from chaosgate.units import Bound

Seen = tuple[float, bool]
"""A moment on the gateway's clock, and whether the request it belongs to broke the bound."""


@dataclass(frozen=True)
class Watched:
    """An SLI with a bound that each request keeps or breaks, and the share of requests that may break it."""

    ref: SliRef
    bound: Bound
    usual: float


def times_of(estimator: Estimator) -> Times:
    """Times to detect by fault, dose and SLI, and times to recover by fault and SLI.

    Watched is every distribution and every share that has a bound in the spec, or a change that comes to one.
    """
    watched = list(_watched(estimator))
    faults, windows = estimator.spec.spec.faults, estimator.windows
    by_id = {request.observation.request: request for part in windows.requests.values() for request in part}
    detection = [
        _detection(one, fault, dose, windows, by_id)
        for fault in faults
        for one in watched
        for dose in sorted(set(fault.dose.values))
    ]
    recovery = [
        _recovery(one, fault, each, estimator)
        for each in windows.recoveries
        for fault in each.faults
        if each.windows
        for one in watched
    ]
    return Times(detection=tuple(filter(None, detection)), recovery=tuple(recovery))


def _watched(estimator: Estimator) -> Iterator[Watched]:
    known: dict[tuple[str, str], None] = {}
    for ref, bound in _bounds(estimator):
        usual = _usual(ref, bound, estimator)
        if usual is not None and (ref.name, str(bound)) not in known:
            known[ref.name, str(bound)] = None
            yield Watched(ref, bound, usual)


def _bounds(estimator: Estimator) -> Iterator[tuple[SliRef, Bound]]:
    body = estimator.spec.spec
    for steady in body.steady_state.objectives:
        yield resolve_sli(steady.sli), steady.bound
    for objective in body.objectives:
        if objective.sli is None:
            continue
        ref = resolve_sli(objective.sli)
        if objective.bound is not None:
            yield ref, objective.bound
        baseline = estimator.baseline(objective.sli).value if objective.change is not None else None
        if objective.change is not None and baseline is not None:
            yield ref, margin_bound(objective.change, ref.dimension, baseline)


def _usual(ref: SliRef, bound: Bound, estimator: Estimator) -> float | None:
    """The share of requests that may break `bound`: what the SLI allows, or what the baseline had, by its upper end.

    None where requests are not judged one by one, where none counts, or where all may break it.
    """
    if ref.kind.statistic not in ("quantile", "share"):
        return None
    counts = broken_by_window(ref.kind, bound, estimator.windows.baseline)
    if not counts:
        return None
    group = Group(*(np.array(part, dtype=float) for part in zip(*counts, strict=True)))
    upper = share_interval([group], [], estimator.spec.spec.workload.seed)[1]
    usual = max(upper, _allowed(ref, bound))
    return usual if 0 < usual < 1 else None


def _allowed(ref: SliRef, bound: Bound) -> float:
    if ref.quantile is not None:
        return 1 - ref.quantile if bound.upper else ref.quantile
    return bound.value if bound.upper else 1 - bound.value


def _detection(
    one: Watched, fault: Fault, dose: float, windows: RunWindows, by_id: Mapping[str, Request]
) -> DetectionTime | None:
    """None where no window of the dose was injected."""
    at_dose = windows.at_dose(fault.name, dose)
    if not at_dose:
        return None
    found = [_detected(one, window, by_id) for window in at_dose]
    told = [seconds for seconds in found if seconds is not None]
    return DetectionTime(
        fault=fault.name,
        dose=dose,
        sli=one.ref.name,
        bound=str(one.bound),
        windows=len(at_dose),
        detected=len(told),
        seconds=statistics.median(told) if told else None,
    )


def _detected(one: Watched, window: Window, by_id: Mapping[str, Request]) -> float | None:
    """Seconds from when `window` came on until the answers that had come to their end told; None where they did not."""
    ends = ((by_id[sample.observation.request].done, sample) for sample in window.samples)
    seen = _judged(one, ends)
    alarm = alarm_at([broken for _, broken in seen], one.usual)
    return None if alarm is None else max(0.0, seen[alarm - 1][0] - window.start)


def _recovery(one: Watched, fault: str, recovery: Recovery, estimator: Estimator) -> RecoveryTime:
    """From the last `off` to when the first request arrived from which on the bound was kept."""
    end = max(window.end for window in recovery.windows)
    requests = estimator.windows.requests[recovery.windows[0].phase]
    samples = {sample.observation.request: sample for window in recovery.windows for sample in window.samples}
    mine = [each for each in requests if each.observation.request in samples]
    seen = _judged(one, ((each.seen, samples[each.observation.request]) for each in mine))
    settled = settled_after([broken for _, broken in seen], one.usual) if seen else None
    return RecoveryTime(
        fault=fault,
        sli=one.ref.name,
        bound=str(one.bound),
        seconds=None if settled is None else max(0.0, seen[settled][0] - recovery.off) if settled else 0.0,
        observed=end - recovery.off,
        requests=len(seen),
    )


def _judged(one: Watched, samples: Iterable[tuple[float, Sample]]) -> Sequence[Seen]:
    """The requests that count, in the order of their moments."""
    found = ((at, breaks(one.ref.kind, one.bound, sample)) for at, sample in samples)
    return sorted((at, broken) for at, broken in found if broken is not None)
