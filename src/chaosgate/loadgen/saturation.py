"""The highest rate that a target holds: open-loop steps that rise until one is not held, and why it was not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from chaosgate.errors import UsageError
from chaosgate.loadgen.generator import LoadSettings
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.loadgen.workers import open_load
from chaosgate.model.arrivals import MAX_RATE, Gaps, RateArrivals
from chaosgate.model.observation import MAX_SCHEDULE_DELAY, Observation
from chaosgate.statistics.ranks import quantile_of
from chaosgate.units import format_duration, format_rate, format_value

HELD = 0.95
"""The share of the requested rate that answers must reach: below it requests pile up, and the step is not held."""
MIN_REQUESTS = 20
"""Requests that a step needs: fewer give no rate of answers."""
_TRIMMED = 0.05
"""The share of requests at both ends that a rate leaves out, so that one straggler does not make it."""

End = Literal["held", "saturated", "errors", "slo", "client", "stopped"]
"""`held`, or why a step was not: answers lag behind, requests fail, an SLO breaks, the client lags, it was stopped."""
Broken = Callable[[Sequence[Observation]], str | None]
"""Why the requests of a step break an SLO, in a sentence; None where they keep all."""
MakeSettings = Callable[[float, int], LoadSettings]
"""The load of the step with this rate and number."""


@dataclass(frozen=True)
class Sweep:
    """Steps of `hold` seconds: the first at `start` requests a second, each next one `factor` times as much, or `step`
    more; at most `most` of them. More failures than the share `errors` end it."""

    start: float
    factor: float | None = None
    step: float | None = None
    hold: float = 10.0
    most: int = 20
    errors: float = 0.01

    def __post_init__(self) -> None:
        if (self.factor is None) == (self.step is None):
            raise UsageError("a sweep rises by a factor or by a step; name one of the two")
        if (self.factor is not None and self.factor <= 1) or (self.step is not None and self.step <= 0):
            raise UsageError("a sweep rises; write a factor above 1, such as 1.5, or a step such as 10/s")
        if self.start * self.hold < MIN_REQUESTS:
            raise UsageError(
                f"{format_rate(self.start)} for {format_duration(self.hold)} are {self.start * self.hold:g} requests; "
                f"a step needs {MIN_REQUESTS} or more: start higher, or hold longer"
            )

    def rates(self) -> Iterator[float]:
        """The rates of the steps in their order, none above what a client may be asked for."""
        rate = self.start
        for _ in range(self.most):
            if rate > MAX_RATE:
                return
            yield rate
            rate = rate * self.factor if self.factor is not None else rate + (self.step or 0.0)


@dataclass(frozen=True)
class StepResult:
    """What one step showed. Rates are in requests per second, `delay` in seconds; None where it cannot be told."""

    rate: float
    """What was asked for."""
    requests: int
    requested: float | None
    """At what rate requests were due, without the first and last of them."""
    achieved: float | None
    """At what rate whole answers came, counted in the same way."""
    errors: float
    """The share that failed."""
    delay: float
    """The 99th percentile of how late the client sent."""
    end: End
    why: str
    """For people."""


def highest_held(steps: Iterable[StepResult]) -> float | None:
    """The highest rate that was held; None where none was."""
    return max((step.rate for step in steps if step.end == "held"), default=None)


def at_rate(settings: LoadSettings, process: Gaps = "constant") -> MakeSettings:
    """Steps that are like `settings` but for their rate and phase, without spikes and tenants.

    Equal gaps are the better choice: what differs between two steps then is the rate and not the draws.
    """

    def make(rate: float, number: int) -> LoadSettings:
        arrivals = RateArrivals.model_validate({"process": process, "rate": format_rate(rate)})
        prompts = settings.workload.streams()[0].prompts
        changed = {"preset": None, "arrivals": arrivals, "prompts": prompts, "spikes": None, "tenants": ()}
        workload = settings.workload.model_copy(update=changed)
        return replace(settings, workload=workload, phase=f"step{number}", warmup=0.0)

    return make


async def run_sweep(
    make_settings: MakeSettings,
    sweep: Sweep,
    until: asyncio.Event,
    on_observation: Callable[[Observation], None] = lambda observation: None,
    on_step: Callable[[StepResult], None] = lambda step: None,
    broken: Broken = lambda observations: None,
) -> tuple[StepResult, ...]:
    """Send step after step until one is not held, the steps are used up or `until` is set; each is told to `on_step`.

    All of them come back: the last is the only one that was not held, unless the sweep ran out of steps.

    Every observation goes to `on_observation` as it comes; its times count from its own step's start.
    """
    steps: list[StepResult] = []
    for number, rate in enumerate(sweep.rates()):
        observations = await _observed(make_settings(rate, number), sweep.hold, until, on_observation)
        result = _stopped(rate, observations) if until.is_set() else judge_step(rate, observations, sweep, broken)
        steps.append(result)
        on_step(result)
        if result.end != "held":
            break
    return tuple(steps)


async def _observed(
    settings: LoadSettings, hold: float, until: asyncio.Event, on_observation: Callable[[Observation], None]
) -> list[Observation]:
    seen: list[Observation] = []

    def observe(observation: Observation) -> None:
        seen.append(observation)
        on_observation(observation)

    clock = PhaseClock()
    load = open_load(replace(settings, seconds=hold), observe, clock)
    await load.prepare()
    clock.restart()
    await load.run(until)
    return seen


def judge_step(
    rate: float, observations: Sequence[Observation], sweep: Sweep, broken: Broken = lambda observations: None
) -> StepResult:
    """Whether a step was held, and else why: what tells least of the target is said first.

    A client that lags makes the step void. Requests that the client gave up by itself count as neither answered nor
    failed.
    """
    told = [one for one in observations if one.outcome != "cancelled"]
    requested = trimmed_rate([one.scheduled for one in told])
    achieved = trimmed_rate([one.end for one in told if one.outcome == "ok"])
    failed = sum(one.outcome != "ok" for one in told) / len(told) if told else 1.0
    delay = quantile_of([one.sent - one.scheduled for one in told], 0.99) if told else 0.0
    end, why = _end(requested, achieved, failed, delay, sweep, broken(told))
    return StepResult(rate, len(observations), requested, achieved, failed, delay, end, why)


def _end(
    requested: float | None, achieved: float | None, failed: float, delay: float, sweep: Sweep, slo: str | None
) -> tuple[End, str]:
    if delay > MAX_SCHEDULE_DELAY:
        late = f"the client sent late, by {format_value(delay, 'duration')} at the 99th percentile"
        return "client", f"{late}: this says nothing of the target; use more workers or another machine"
    if failed > sweep.errors:
        allowed = format_value(sweep.errors, "share")
        return "errors", f"{format_value(failed, 'share')} of the requests failed; {allowed} are allowed"
    if slo is not None:
        return "slo", slo
    if requested is None or achieved is None:
        return "saturated", f"fewer than {MIN_REQUESTS} requests were answered"
    reached = format_value(achieved / requested, "share")
    if achieved < HELD * requested:
        return "saturated", f"answers came at {reached} of the requested rate; below {HELD:.0%} requests pile up"
    return "held", f"answers came at {reached} of the requested rate"


def trimmed_rate(times: Sequence[float]) -> float | None:
    """Events per second, of all but the first and last 5 %; None of fewer than 20 or where all came at once.

    Rates of the due times and of the answers' ends, had in the same way, differ by what piles up and not by how long
    an answer takes.
    """
    if len(times) < MIN_REQUESTS:
        return None
    ordered = sorted(times)
    cut = int(len(ordered) * _TRIMMED)
    first, last = ordered[cut], ordered[-1 - cut]
    return (len(ordered) - 1 - 2 * cut) / (last - first) if last > first else None


def _stopped(rate: float, observations: Sequence[Observation]) -> StepResult:
    return StepResult(rate, len(observations), None, None, 0.0, 0.0, "stopped", "the sweep was stopped in this step")
