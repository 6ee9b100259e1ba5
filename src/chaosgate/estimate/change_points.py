"""When the SLIs of a run changed their level, on the gateway's clock, and which of them told it first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chaosgate.estimate.data import RunData
from chaosgate.estimate.windows import RunWindows, place_arms
from chaosgate.model.blocks import BASELINE
from chaosgate.model.change_points import ChangePoint, SliChanges
from chaosgate.model.observation import Sample
from chaosgate.model.result import finite
from chaosgate.model.sli import SLIS, SliRef, resolve_sli
from chaosgate.model.spec import ChaosSpec
from chaosgate.statistics.ranks import quantile_of

if TYPE_CHECKING:
    from chaosgate.statistics.change_points import Change

MOST_SLICES = 120
"""More slices than this make the permutations slow and say when something changed hardly more closely."""
REQUESTS = 10
"""Requests that a slice should hold on average: the ranks of fewer are mostly noise."""


@dataclass(frozen=True)
class Slice:
    """A stretch of a run, `length` seconds from `start` on, with the requests that arrived in it."""

    start: float
    length: float
    samples: Sequence[Sample]


def find_changes(run: RunData, windows: RunWindows) -> tuple[SliChanges, ...]:
    """The changes of each SLI that the spec judges, over the whole run after its warm-up.

    The run is cut into slices of equal length, in whole seconds. The SLIs share the false alarms among them: 4 %.
    What its client cancelled, and what passed no filter, is left out.
    """
    from chaosgate.statistics.change_points import ALARMS

    slices = cut(_samples(run, windows))
    slis = watched(run.spec)
    ons = _ons(windows)
    return tuple(_changes(sli, slices, ALARMS / len(slis), run.spec.spec.workload.seed, ons) for sli in slis)


def watched(spec: ChaosSpec) -> list[SliRef]:
    """The SLIs whose level is watched: of steady state and objectives, and those of fits, at P95 of a distribution."""
    body = spec.spec
    names = [steady.sli for steady in body.steady_state.objectives]
    names += [objective.sli for objective in body.objectives if objective.sli is not None]
    for fit in body.fits:
        kind = fit.response.sli
        names.append(f"{kind}-p95" if SLIS.get(kind).statistic == "quantile" else kind)
    return [resolve_sli(name) for name in dict.fromkeys(names)]


def cut(samples: Sequence[tuple[float, Sample]]) -> list[Slice]:
    """`samples`, each with its time, in slices: whole seconds, at most MOST_SLICES, REQUESTS in each on average.

    A last part that fills no slice is left out.
    """
    if not samples:
        return []
    times = [at for at, _ in samples]
    begin, span = math.floor(min(times)), max(times) - math.floor(min(times))
    length = max(1.0, math.ceil(span / MOST_SLICES), math.ceil(REQUESTS * span / len(samples)))
    slices: list[list[Sample]] = [[] for _ in range(int(span / length))]
    for at, sample in samples:
        index = int((at - begin) / length)
        if index < len(slices):
            slices[index].append(sample)
    return [Slice(begin + index * length, length, found) for index, found in enumerate(slices)]


def first_to_tell(changes: Iterable[SliChanges]) -> tuple[SliChanges, ChangePoint] | None:
    """The SLI by which a change could be told first, with that change; None where nothing changed."""
    found = [(one, change) for one in changes for change in one.changes if change.told is not None]
    return min(found, key=lambda pair: (pair[1].told or math.inf, pair[1].at), default=None)


def _samples(run: RunData, windows: RunWindows) -> list[tuple[float, Sample]]:
    arms = place_arms(run.spec, windows.requests.get(BASELINE, ()))
    found = []
    for request in (request for requests in windows.requests.values() for request in requests):
        seen = request.observation
        if seen.warmup or seen.outcome == "cancelled" or not math.isfinite(request.seen):
            continue
        unguarded, sample = arms.sample(request)
        if not unguarded:
            found.append((request.seen, sample))
    return found


def _ons(windows: RunWindows) -> list[tuple[float, str]]:
    """When each dose came on, with its fault, in the order of time."""
    swept = [window for sweep in windows.sweeps.values() for window in sweep]
    return sorted((window.start, window.fault) for window in swept if window.dose and window.fault is not None)


def _changes(
    sli: SliRef, slices: Sequence[Slice], level: float, seed: int, ons: Sequence[tuple[float, str]]
) -> SliChanges:
    from chaosgate.statistics.change_points import SIDE, autocorrelation, change_points

    seen = [(one, value) for one in slices if (value := slice_value(sli, one)) is not None]
    values = np.array([value for _, value in seen])
    length = slices[0].length if slices else 0.0
    found = SliChanges(sli=sli.name, dimension=sli.dimension, slice=length, at=(), values=())
    if len(seen) < 2 * SIDE:
        reason = f"{len(seen)} of {2 * SIDE} slices needed have a number of it; hold the doses longer"
        return found.model_copy(update={"reason": reason})
    changes = change_points(values, seed, level)
    starts = [one.start for one, _ in seen]
    return found.model_copy(
        update={
            "at": tuple(starts),
            "values": tuple(finite(float(value)) for value in values),
            "changes": tuple(_point(change, starts, length, ons) for change in changes),
            "autocorrelation": autocorrelation(values, changes),
        }
    )


def _point(change: Change, starts: Sequence[float], length: float, ons: Sequence[tuple[float, str]]) -> ChangePoint:
    told = None if change.seen is None else starts[change.seen] + length
    # A slice in which a dose came on may show it already: the change lies between its start and the next one's.
    before = [on for on in ons if on[0] < starts[change.at] + length]
    on, fault = before[-1] if before else (None, None)
    return ChangePoint(
        at=starts[change.at],
        lower=starts[change.lower],
        upper=starts[change.upper],
        told=told,
        p=change.p,
        before=finite(change.before),
        after=finite(change.after),
        fault=fault,
        detected_after=None if told is None or on is None else told - on,
    )


def slice_value(sli: SliRef, part: Slice) -> float | None:
    """The SLI over one slice, +inf where so many requests failed; None where no request of it counts."""
    kind = sli.kind
    if kind.statistic == "set":
        return kind.of(part.samples)
    values = list(kind.adjusted_values(part.samples))
    if not values:
        return None
    if sli.quantile is not None:
        return quantile_of(values, sli.quantile)
    return math.fsum(values) / (part.length if kind.statistic == "rate" else len(values))
