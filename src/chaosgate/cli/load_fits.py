"""What the steps of a sweep tell of a server: the load of its greatest throughput, and beyond which rate it fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chaosgate.estimate.breaks import breaks
from chaosgate.fits.phase_change import PhaseChange
from chaosgate.fits.usl import Usl
from chaosgate.model.fit import BreakResponse, DoseWindow, FitResponse, Threshold
from chaosgate.model.observation import Observation, RequestBound, Sample
from chaosgate.model.sli import SLIS
from chaosgate.report.table import format_interval
from chaosgate.units import Bound, format_value

PARTS = 4
"""Windows of a step: the variance between them has three degrees of freedom a step."""

Steps = Mapping[float, Sequence[Observation]]
"""What was observed at each rate; times count from the step's start."""


def peak_load(steps: Steps, hold: float) -> Threshold:
    """The requests in flight at which throughput is greatest, by the Universal Scalability Law, or why that is unknown.

    The load of a step is the mean number of its requests in flight: their times in the server over its length (Little,
    Operations Research 9, 1961).
    """
    fit = Usl(name="peak", kind="usl", fault="sweep", response=FitResponse(sli="request-rate"))
    return fit.fit([window for seen in steps.values() for window in _throughput(seen, hold)], 0, "number")


def critical_rate(steps: Steps, hold: float, bounds: Sequence[RequestBound]) -> Threshold:
    """The rate beyond which failures grow exponentially, or why that is unknown.

    A request fails that has no whole answer, or that breaks one of `bounds`. One its client cancelled does not count.
    """
    response = BreakResponse(sli="error-rate", bound=Bound.parse("<= 0 %"))
    fit = PhaseChange(name="critical", kind="phase-change", fault="sweep", response=response)
    windows = [window for rate, seen in steps.items() for window in _failures(rate, seen, hold, bounds)]
    return fit.fit(windows, 0, "rate")


def peak_words(found: Threshold) -> str:
    """`throughput is greatest at 24 requests in flight [20, 30]`, or why nobody can tell."""
    if found.outcome == "refused":
        return f"load of greatest throughput: not told: {found.reason}"
    interval = format_interval(found.lower, found.upper, "number")
    peak = format_value(found.goodness["peak rate"], "rate")
    return f"throughput is greatest, {peak}, at {format_value(found.value, 'number')} requests in flight {interval}"


def critical_words(found: Threshold) -> str:
    """`failures grow exponentially beyond 42/s [40/s, 45/s]`, or why nobody can tell."""
    if found.outcome == "refused":
        return f"critical rate: not told: {found.reason}"
    value = "a rate" if found.value is None else format_value(found.value, "rate")
    return f"failures grow exponentially beyond {value} {format_interval(found.lower, found.upper, 'rate')}"


def _throughput(seen: Sequence[Observation], hold: float) -> Iterator[DoseWindow]:
    answered = [one for one in seen if one.outcome == "ok"]
    load = sum(min(one.end, hold) - one.sent for one in seen if one.sent < hold) / hold
    length = hold / PARTS
    for part in range(PARTS):
        ended = sum(part * length <= one.end < (part + 1) * length for one in answered)
        yield DoseWindow(load, 0, ended, float(ended), length)


def _failures(
    rate: float, seen: Sequence[Observation], hold: float, bounds: Sequence[RequestBound]
) -> Iterator[DoseWindow]:
    counted = [one for one in seen if one.outcome != "cancelled"]
    length = hold / PARTS
    for part in range(PARTS):
        here = [one for one in counted if part * length <= one.scheduled < (part + 1) * length]
        yield DoseWindow(rate, sum(_failed(one, bounds) for one in here), len(here))


def _failed(one: Observation, bounds: Sequence[RequestBound]) -> bool:
    sample = Sample(one, None)
    return one.outcome != "ok" or any(breaks(SLIS.get(each.sli), each.bound, sample) for each in bounds)
