"""Whether the requests a spec plans can prove what it asks for, by the rules by which a run is judged.

Counts are what is due on average. Poisson arrivals vary: what holds in 19 runs of 20 is taken, n - 1.96 sqrt(n), and as
what may come at best n + 1.96 sqrt(n). A rate that changes counts with its mean over the phase; of a closed loop the
target decides how many requests come, and nothing is counted. The best that an interval can be is that of independent
requests. Where a spec leaves requests unguarded, the others are counted: they alone are judged.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from chaosgate.estimate.objectives import dose_bound, objective_fault, selected
from chaosgate.model.blocks import SETTLE, baseline_length, baseline_warmup, longest_within, make_blocks
from chaosgate.model.fault import Fault
from chaosgate.model.plan import Block
from chaosgate.model.sli import SliRef, resolve_sli
from chaosgate.model.spec import ChaosSpec, DoseRange, Objective, SteadyObjective
from chaosgate.prompts.sources import prompts_of
from chaosgate.statistics.binomial import clopper_pearson
from chaosgate.statistics.intervals import DesignEffect, needed
from chaosgate.statistics.ranks import percentile
from chaosgate.units import Bound, format_value

Chance = Literal["enough", "depends", "tight", "luck", "never"]
"""`enough`: a target that is well within its bound passes; `tight`: not one request may count against it; `luck`: so
few requests that chance decides; `never`: no target can pass; `depends`: on where a threshold lies, or how a rate
varies."""
Found = tuple[Chance, str]
"""A chance and why."""
SURE = 0.95
"""How often a thing must happen to count on it."""
NORMAL = 1.96
"""The 97.5 % quantile of the normal distribution."""
_UNKNOWN: Found = ("depends", "on how many requests the target answers: it sets the rate of a closed loop")


@dataclass(frozen=True)
class Place:
    """Where something is judged: so many windows with so many requests each that count.

    `freedom`: the degrees of freedom behind the design effect, by which the variance between windows is known.
    """

    at: str
    windows: int
    per_window: float | None
    """None where the target sets the rate."""
    freedom: int
    varies: bool
    """Whether arrivals are random."""

    @property
    def requests(self) -> float:
        """Those that are due on average; none are counted where the target sets the rate."""
        return self.windows * (self.per_window or 0.0)

    @property
    def spread(self) -> float:
        """How many more or fewer may come: two standard deviations, or one a window where arrivals are constant."""
        return NORMAL * math.sqrt(self.requests) if self.varies else self.windows

    @property
    def filled(self) -> bool:
        """Whether it can be counted on that no window is empty."""
        per_window = self.per_window or 0.0
        if not self.varies:
            return per_window >= 1
        return (1 - math.exp(-per_window)) ** self.windows >= SURE


@dataclass(frozen=True)
class Outlook:
    """One thing that is judged, and whether the plan suffices for it."""

    objective: str | None
    """None for an objective of the steady state."""
    severity: Literal["gate", "warn"]
    what: str
    bound: str
    at: str
    windows: int
    requests: float | None
    """None where the target sets the rate."""
    chance: Chance
    why: str

    def to_json(self) -> dict[str, Any]:
        """The same for machines."""
        return asdict(self)


def judged_rate(spec: ChaosSpec, phase: float) -> float | None:
    """Requests a second that are due and judged in a phase of so many seconds: those that are not left unguarded.

    None where the target sets the rate.
    """
    rate = spec.spec.workload.mean_rate(phase)
    return None if rate is None else rate * (1 - spec.spec.unguarded)


def outlooks(spec: ChaosSpec, blocks: Sequence[Block]) -> Iterator[Outlook]:
    """The steady state before and after, then every objective on an SLI, in the order of the spec."""
    places = _Places(spec, blocks)
    for steady in spec.spec.steady_state.objectives:
        for place in (places.baseline(), places.recovered()):
            yield _steady(steady, places.counting(steady.sli, place))
    for objective in spec.spec.objectives:
        if objective.sli is not None and objective.bound is not None:
            for place in places.of(objective):
                yield _judged(objective, objective.sli, objective.bound, places.counting(objective.sli, place))


def shown_at(spec: ChaosSpec, fault: Fault) -> Place:
    """Where the witness of `fault` reads an effect among the unguarded requests: at its largest dose."""
    largest = format_value(max(fault.dose.values), fault.axis().dimension)
    workload, sweep = spec.spec.workload, fault.dose
    rate = workload.mean_rate(sum(block.length for block in make_blocks(spec)))
    unguarded = None if rate is None else sweep.hold * rate * spec.spec.unguarded
    return Place(f"at {largest}", sweep.windows, unguarded, sweep.windows - 1, workload.varies)


def fit_outlook(spec: ChaosSpec) -> Iterator[Outlook]:
    """Every objective on a fit."""
    for objective in spec.spec.objectives:
        for fit in spec.spec.fits:
            if fit.name == objective.fit:
                yield _fitted(spec, objective, spec.fault(fit.fault))


@dataclass(frozen=True)
class _Places:
    spec: ChaosSpec
    blocks: Sequence[Block]

    def place(self, at: str, windows: int, hold: float, freedom: int, phase: float) -> Place:
        rate = judged_rate(self.spec, phase)
        per_window = None if rate is None else hold * rate
        return Place(at, windows, per_window, freedom, self.spec.spec.workload.varies)

    def controls(self) -> int:
        """The degrees of freedom of the controls, those of each fault by themselves."""
        windows = [window for block in self.blocks for window in block.windows if not window.dose]
        return len(windows) - len({window.fault for window in windows})

    def baseline(self) -> Place:
        steady = self.spec.spec.steady_state
        freedom = steady.windows - 1 + self.controls()
        return self.place("in the baseline", steady.windows, steady.hold, freedom, baseline_length(self.spec))

    def recovery(self, block: Block, after: float = 0.0) -> Place:
        """The recovery windows of a block that start `after` seconds or more after the last fault went off."""
        hold = self.spec.fault(block.windows[-1].fault).dose.hold
        starts = (SETTLE + index * hold for index in range(block.recovery_windows))
        windows = sum(start >= after - 1e-9 for start in starts)
        freedom = windows - 1 + self.spec.spec.steady_state.windows - 1 + self.controls()
        return self.place("in the recovery", windows, hold, freedom, block.length)

    def recovered(self) -> Place:
        """The recovery in which the steady state must hold again."""
        return replace(self.recovery(self.blocks[-1], longest_within(self.spec)), at="at the end of the recovery")

    def of(self, objective: Objective) -> list[Place]:
        """Where an objective on an SLI judges: at one place, or at each of its doses."""
        if not isinstance(objective.at, DoseRange):
            return [self.baseline() if objective.at == "baseline" else self.recovery(self.block_of(objective))]
        fault, among = objective_fault(self.spec, objective), dose_bound(objective.at)
        doses = [dose for dose in fault.dose.values if selected(dose, among)]
        if objective.each:
            return [self.dose(fault, format_value(dose, fault.axis().dimension), 1) for dose in doses]
        return [self.dose(fault, "all doses" if among is None else f"doses {among}", len(doses))]

    def block_of(self, objective: Objective) -> Block:
        name = objective_fault(self.spec, objective).name
        return next(block for block in self.blocks if objective.fault is None or name in block.faults)

    def dose(self, fault: Fault, at: str, doses: int) -> Place:
        sweep = fault.dose
        alike = self.spec.spec.steady_state.windows - 1 + self.controls()
        freedom = alike + len(sweep.values) * (sweep.windows - 1)
        block = next(block for block in self.blocks if fault.name in block.faults)
        return self.place(f"at {at} of {fault.name}", doses * sweep.windows, sweep.hold, freedom, block.length)

    def counting(self, sli: str, place: Place) -> Place:
        """The place with the requests that count: a prompt without an answer in the baseline compares with nothing."""
        workload, length = self.spec.spec.workload, baseline_length(self.spec)
        rate = judged_rate(self.spec, length)
        if rate is None or place.per_window is None or not resolve_sli(sli).kind.compares:
            return place
        prompts = sum(len(prompts_of(stream, workload.seed)) for stream in workload.streams())
        covered = min(1.0, (length - baseline_warmup(self.spec)) * rate / prompts)
        return replace(place, per_window=place.per_window * covered)


def _steady(steady: SteadyObjective, place: Place) -> Outlook:
    """The steady state holds unless its interval lies wholly outside its bound or cannot be had."""
    if place.per_window is None:
        return _outlook(None, "gate", steady.sli, steady.bound, place, *_UNKNOWN)
    sli = resolve_sli(steady.sli)
    holds: Found = ("enough", "holds unless its whole interval lies outside")
    chance, why = _worst(*_had(sli, place), holds)
    return _outlook(None, "gate", steady.sli, steady.bound, place, chance, why)


def _judged(objective: Objective, name: str, bound: Bound, place: Place) -> Outlook:
    if place.per_window is None:
        return _outlook(objective.name, objective.severity, name, bound, place, *_UNKNOWN)
    sli = resolve_sli(name)
    chance, why = _worst(*_had(sli, place), _decided(sli, bound, place))
    return _outlook(objective.name, objective.severity, name, bound, place, chance, why)


def _decided(sli: SliRef, bound: Bound, place: Place) -> Found:
    if sli.kind.statistic == "rate":
        return "depends", "on how much the rate varies between its windows"
    if sli.kind.statistic in ("mean", "set"):
        return "depends", "on how much the answers vary, within a window and between them"
    return _quantile(sli.quantile, place) if sli.quantile is not None else _share(bound, place)


def _outlook(
    objective: str | None,
    severity: Literal["gate", "warn"],
    what: str,
    bound: Bound,
    place: Place,
    chance: Chance,
    why: str,
) -> Outlook:
    requests = None if place.per_window is None else place.requests
    return Outlook(objective, severity, what, str(bound), place.at, place.windows, requests, chance, why)


def _worst(*found: Found) -> Found:
    """The one that leaves the least chance; of several the first."""
    return max(found, key=lambda one: get_args(Chance).index(one[0]))


def _had(sli: SliRef, place: Place) -> Iterator[Found]:
    """What may keep it from an interval at all: fewer requests than a quantile needs, an empty window."""
    if sli.quantile is not None:
        wanted = f"a {percentile(sli.quantile)} needs {needed(sli.quantile)} requests"
        if place.requests + place.spread < needed(sli.quantile):
            yield "never", wanted
        elif place.requests - place.spread < needed(sli.quantile):
            yield "luck", f"{wanted}, and some runs have fewer"
    if not place.filled:
        yield "luck", f"a window of about {place.per_window:.3g} requests may hold none, and then there is no interval"


def _quantile(quantile: float, place: Place) -> Found:
    """Whether its interval has both ends where windows differ by chance alone."""
    least = needed(quantile)
    telling = DesignEffect(1.0, place.freedom).effective(max(place.requests - place.spread, 0.0))
    tells = f"these tell as much as {telling:.0f} independent ones where the windows agree"
    if telling < least:
        return "luck", f"a {percentile(quantile)} needs {least} requests, and {tells}"
    return "enough", f"a {percentile(quantile)} needs {least} requests; {tells}"


def _share(bound: Bound, place: Place) -> Found:
    """How many of its requests may count against it, at best: those of one window come together more often."""
    likely, most = place.requests - place.spread, place.requests + place.spread
    end = format_value(_end(bound, 0, place.requests), "share")
    clean = f"even if none counts against it, the interval reaches to {end}"
    if not _keeps(bound, 0, most):
        return "never", clean
    if not _keeps(bound, 0, likely):
        return "luck", f"{clean}, and in some runs further"
    allowed = bisect_left(range(1, int(likely) + 1), True, key=lambda against: not _keeps(bound, against, likely))
    if allowed == 0:
        return "tight", f"not one request may count against it: {clean}"
    return "enough", f"at most {allowed} of them may count against it, fewer where they come together"


def _keeps(bound: Bound, against: int, n: float) -> bool:
    return n > 0 and bound.holds(_end(bound, against, n))


def _end(bound: Bound, against: int, n: float) -> float:
    """The end of the interval on the far side of `bound` when so many of `n` requests count against it."""
    lower, upper = clopper_pearson(against if bound.upper else n - against, n)
    return upper if bound.upper else lower


def _fitted(spec: ChaosSpec, objective: Objective, fault: Fault) -> Outlook:
    """A threshold and the ends of its interval lie among the doses of its sweep, 0 included."""
    end = "lower" if objective.lower is not None else "upper"
    bound = objective.lower or objective.upper
    assert bound is not None  # an objective on a fit has one of the two
    largest = max(fault.dose.values)
    chance: Chance = "depends"
    why = "on where the threshold lies; the largest dose should break the response's bound, or there is none"
    if not bound.upper and not bound.holds(largest):
        chance = "never"
        said = format_value(largest, fault.axis().dimension)
        why = f"a threshold is found among the doses, and the largest is {said}; add larger ones"
    windows = len(fault.dose.values) * fault.dose.windows
    rate = judged_rate(spec, sum(block.length for block in make_blocks(spec)))
    requests = None if rate is None else windows * fault.dose.hold * rate
    what, at = f"{end} end of {objective.fit}", f"over the doses of {fault.name}"
    return Outlook(objective.name, objective.severity, what, str(bound), at, windows, requests, chance, why)
