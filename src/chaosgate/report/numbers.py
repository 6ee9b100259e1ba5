"""The numbers of a run that a second run of the same spec has, too, each under what it is and where it was taken."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from chaosgate.model.base import Frozen
from chaosgate.model.result import Estimate, FitResult, VerdictName, worst
from chaosgate.model.spec import ChaosSpec
from chaosgate.report.view import ReportView
from chaosgate.statistics.difference import Arm
from chaosgate.units import Bound, Dimension

Kind = Literal["objective", "threshold", "sli"]


@dataclass(frozen=True)
class Place:
    """What a number is: an objective's estimate, the threshold of a fit, or an SLI at a place, called `name`."""

    kind: Kind
    name: str
    sli: str | None
    at: str
    """`baseline`, `dose 180ms`, `dose <= 180ms`, `recovery`, or `threshold`."""
    fault: str | None
    dimension: Dimension


class Number(Frozen):
    """A value with its 95 % interval in base units; None is "there is no number", and `reason` says why."""

    value: float | None
    lower: float | None
    upper: float | None
    n: int
    windows: int
    reason: str | None
    unbounded: bool = False
    """Even the lower end is infinite: so many requests failed."""
    verdict: VerdictName | None = None
    """What it was judged, None where no objective judges it."""

    def arm(self) -> Arm:
        """The number as one arm of a difference."""
        return Arm(None, math.inf, None) if self.unbounded else Arm(self.value, self.lower, self.upper)


def numbers_of(view: ReportView) -> dict[Place, Number]:
    """Objectives in the spec's order, then thresholds, then every SLI at baseline, controls, doses and recovery."""
    found: dict[Place, Number] = {}
    for place, number in (*_objectives(view), *_thresholds(view), *_slis(view)):
        # An SLI that several objectives name has one baseline; of its recoveries the first stands for all.
        found.setdefault(place, number)
    return found


def _objectives(view: ReportView) -> Iterator[tuple[Place, Number]]:
    for judged in view.estimates.objectives if view.estimates else ():
        reasons = [reason for reason in view.verdict.reasons if reason.objective == judged.objective]
        for estimate in judged.estimates:
            here = [reason for reason in reasons if reason.at == estimate.at] or reasons
            yield _place("objective", judged.objective, estimate), _number(estimate, worst(here) if here else None)


def _slis(view: ReportView) -> Iterator[tuple[Place, Number]]:
    estimates = view.estimates
    if estimates is None:
        return
    baselines = (judged.baseline for judged in estimates.objectives)
    recoveries = (judged.recovery for judged in estimates.objectives)
    for estimate in (*estimates.steady_state, *baselines, *estimates.doses, *recoveries, *estimates.recovered):
        if estimate is not None:
            yield _place("sli", estimate.sli, estimate), _number(estimate, None)


def _thresholds(view: ReportView) -> Iterator[tuple[Place, Number]]:
    for fit in view.fits.fits if view.fits else ():
        judging = {objective.name for objective in view.spec.spec.objectives if objective.fit == fit.name}
        reasons = [reason for reason in view.verdict.reasons if reason.objective in judging]
        place = Place("threshold", fit.name, None, "threshold", fit.fault, fit.dimension)
        yield place, _threshold(fit, worst(reasons) if reasons else None)


def _place(kind: Kind, name: str, estimate: Estimate) -> Place:
    at = "controls" if estimate.place == "control" else estimate.at
    return Place(kind, name, estimate.sli, at, estimate.fault, estimate.dimension)


def _number(estimate: Estimate, verdict: VerdictName | None) -> Number:
    return Number(
        value=estimate.value,
        lower=estimate.lower,
        upper=estimate.upper,
        n=estimate.n,
        windows=estimate.windows,
        reason=estimate.reason,
        unbounded=estimate.unbounded,
        verdict=verdict,
    )


def _threshold(fit: FitResult, verdict: VerdictName | None) -> Number:
    """A bracket has ends and no value; a threshold that was refused has neither."""
    found = fit.threshold
    usable = found.outcome != "refused"
    return Number(
        value=found.value if found.outcome == "fitted" else None,
        lower=found.lower if usable else None,
        upper=found.upper if usable else None,
        n=found.n,
        windows=found.windows,
        reason=found.reason,
        verdict=verdict,
    )


def lower_is_better(spec: ChaosSpec, place: Place) -> bool:
    """Whether a smaller number is the better one: by the first bound on it; a threshold without one is room."""
    objectives = spec.spec.objectives
    bounds: list[Bound | None]
    match place.kind:
        case "objective":
            bounds = [objective.limit for objective in objectives if objective.name == place.name]
        case "threshold":
            bounds = [objective.lower or objective.upper for objective in objectives if objective.fit == place.name]
        case "sli":
            bounds = [objective.limit for objective in objectives if objective.sli == place.name]
            bounds += [steady.bound for steady in spec.spec.steady_state.objectives if steady.sli == place.name]
    known = [bound for bound in bounds if bound is not None]
    return known[0].upper if known else place.kind != "threshold"
