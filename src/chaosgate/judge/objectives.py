"""The rules for objectives: an interval against its bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chaosgate.estimate.position import Position, position
from chaosgate.judge.multiplicity import Judged, doubt, hold_fails
from chaosgate.judge.reasons import interval_text, plain, range_text
from chaosgate.model.fit import Threshold
from chaosgate.model.observation import MIN_WINDOWS
from chaosgate.model.result import Estimate, Estimates, FitResult, Fits, Reason, SemanticState, VerdictName, finite
from chaosgate.model.spec import ChaosSpec, Objective
from chaosgate.units import Bound, format_duration, format_value

HOLDS: tuple[Position, ...] = ("inside", "straddles", "open")
"""Where the interval of a steady state may lie: it is outside or missing that says that it does not hold."""


def steady_state_reasons(spec: ChaosSpec, estimates: tuple[Estimate, ...]) -> Iterator[Reason]:
    """One reason an objective of the steady state, which holds unless its interval is wholly outside or missing.

    An interval without an end on the far side of the bound is not missing: three short windows seldom give a quantile
    both ends, and whether anything may be injected does not hang on that.
    """
    yield from _steady_reasons(spec, estimates, "baseline", _BASELINE_WORDS)


def recovered_reasons(spec: ChaosSpec, estimates: tuple[Estimate, ...]) -> Iterator[Reason]:
    """One reason an objective of the steady state: it must hold again in the end, by the rule of the baseline.

    Without this a target that a fault has broken for good would pass by its numbers during the fault.
    """
    yield from _steady_reasons(spec, estimates, "recovery", _RECOVERY_WORDS)


def semantic_reasons(spec: ChaosSpec, semantic: SemanticState | None) -> Iterator[Reason]:
    """One reason whether the answers became steady before the baseline's windows; none where the spec does not ask."""
    wanted = spec.spec.steady_state.semantic
    if wanted is None:
        return
    asked = (
        f"{wanted.scorer} {wanted.bound} as the mean of {wanted.window} samples of {format_duration(wanted.every)}, "
        f"{wanted.in_a_row} windows in a row"
    )
    if semantic is not None and semantic.steady is not None:
        text = f"the answers were steady {format_duration(semantic.steady)} after the warm-up: {asked}"
        yield Reason(verdict="pass", severity="gate", text=text, value=semantic.best, bound=str(wanted.bound))
        return
    text = f"the answers did not become steady within {format_duration(wanted.within)}: {asked}; {_at_best(semantic)}"
    best = semantic.best if semantic is not None else None
    yield Reason(verdict="inconclusive", severity="gate", text=text, value=best, bound=str(wanted.bound))


def _at_best(semantic: SemanticState | None) -> str:
    if semantic is None or not semantic.scores:
        return "nothing was scored" if semantic is None or semantic.reason is None else semantic.reason
    if semantic.best is not None:
        return f"the best window had {format_value(semantic.best, 'share')}"
    empty = sum(score is None for score in semantic.scores)
    return f"{empty} of {len(semantic.scores)} samples hold no request that counts; send more, or sample longer"


_BASELINE_WORDS: dict[Position, str] = {
    "outside": "the baseline is unhealthy, the steady state does not hold",
    "missing": "the baseline is unhealthy, the steady state is not known to hold",
}
_RECOVERY_WORDS: dict[Position, str] = {
    "outside": "the steady state did not come back",
    "missing": "the steady state is not known to have come back",
}
_HELD_WORDS = {"baseline": "the steady state holds", "recovery": "the steady state came back"}


def _steady_reasons(
    spec: ChaosSpec, estimates: tuple[Estimate, ...], where: str, words: Mapping[Position, str]
) -> Iterator[Reason]:
    wanted = spec.spec.steady_state.objectives
    if [estimate.sli for estimate in estimates] != [steady.sli for steady in wanted]:
        yield plain("error", f"the estimates of the {where} do not belong to the steady state; estimate the run again")
        return
    for steady, estimate in zip(wanted, estimates, strict=True):
        place = _position(steady.bound, estimate)
        holds = place in HOLDS
        against = "not outside" if holds else "cannot be held against" if place == "missing" else "outside"
        yield Reason(
            verdict="pass" if holds else "inconclusive",
            severity="gate",
            text=(
                f"{_HELD_WORDS[where] if holds else words[place]}: {where} {steady.sli} is "
                f"{interval_text(spec, estimate)}, {against} {steady.bound}{_because(estimate)}"
            ),
            **_numbers(estimate, steady.bound),
        )


def objective_reasons(spec: ChaosSpec, estimates: Estimates, fits: Fits | None) -> Iterator[Reason]:
    """The reasons of every objective of the spec, in its order; an objective without an estimate is an error."""
    found = [each for objective in spec.spec.objectives for each in _judged(spec, objective, estimates, fits)]
    yield from hold_fails(found, spec.spec.gate.on_uncertain)


def _judged(spec: ChaosSpec, objective: Objective, estimates: Estimates, fits: Fits | None) -> list[Judged]:
    found = list(_sli_reasons(spec, objective, estimates) if objective.sli else _fit_reasons(spec, objective, fits))
    if found:
        return found
    return [_error(objective, f"{objective.name}: nothing was estimated for it; estimate the run again")]


def _error(objective: Objective, text: str) -> Judged:
    return Judged(Reason(verdict="error", text=text, objective=objective.name, severity=objective.severity), None)


def _sli_reasons(spec: ChaosSpec, objective: Objective, estimates: Estimates) -> Iterator[Judged]:
    bound = objective.limit
    assert bound is not None
    for judged in (each for each in estimates.objectives if each.objective == objective.name):
        for estimate in judged.estimates:
            if estimate.sli != objective.sli:
                yield _error(objective, f"{objective.name}: the estimate is of {estimate.sli}, not of {objective.sli}")
                continue
            if (estimate.change is None) != (objective.change is None):
                yield _error(objective, f"{objective.name}: {_another(objective)}; estimate the run again")
                continue
            place = _position(bound, estimate)
            reason = Reason(
                verdict=_verdict(spec, objective, place),
                severity=objective.severity,
                objective=objective.name,
                text=_sli_text(spec, objective, estimate, place, judged.after),
                **_numbers(estimate, bound),
            )
            yield Judged(reason, None if place == "missing" else doubt(bound, estimate, estimate.freedom))


def _another(objective: Objective) -> str:
    if objective.change is None:
        return f"the estimate is of a change of {objective.sli}, not of itself"
    return f"the estimate is of {objective.sli} itself, not of its change"


def _position(bound: Bound, estimate: Estimate) -> Position:
    """`position`, but fewer windows than say anything of their variance never keep a bound."""
    place = position(bound, estimate.value, estimate.lower, estimate.upper, estimate.unbounded)
    enough = estimate.windows >= MIN_WINDOWS and estimate.n > 0
    return place if enough else "missing"


def _verdict(spec: ChaosSpec, objective: Objective, place: Position) -> VerdictName:
    verdicts: dict[Position, VerdictName] = {
        "inside": "pass",
        "outside": "fail",
        "straddles": spec.spec.gate.on_uncertain,
        "open": "inconclusive",
        "missing": "inconclusive",
    }
    verdict = verdicts[place]
    return "warn" if objective.severity == "warn" and verdict != "pass" else verdict


_WORDS: dict[Position, str] = {
    "inside": "meets {bound}",
    "outside": "breaks {bound}",
    "straddles": "which straddles {bound}; more requests or windows would narrow it",
    "open": "which may reach beyond {bound}",
    "missing": "which cannot be held against {bound}",
}


def _sli_text(spec: ChaosSpec, objective: Objective, estimate: Estimate, place: Position, after: float | None) -> str:
    at = estimate.at
    if after is not None:
        at = f"recovery, counted from {format_value(after, 'duration')} after the last fault ended,"
    if estimate.fault is not None:
        at = f"{at} of {estimate.fault}"
    words = _WORDS[place].format(bound=objective.limit)
    said = f"{estimate.sli} at {at} {_is(estimate)} {interval_text(spec, estimate)}"
    return f"{objective.name}: {said}, {words}{_because(estimate)}"


def _is(estimate: Estimate) -> str:
    """How the number is told: the SLI's own, or its change from the baseline."""
    if estimate.change is None:
        return "is"
    points = ", in percentage points," if estimate.change == "absolute" and estimate.dimension == "share" else ""
    return f"changed{' prompt by prompt' if estimate.paired else ''} from the baseline{points} by"


def _because(estimate: Estimate) -> str:
    if estimate.windows < MIN_WINDOWS and estimate.reason is None:
        return f" ({MIN_WINDOWS} windows are needed)"
    return "" if estimate.reason is None else f" ({estimate.reason})"


def _numbers(estimate: Estimate, bound: Bound) -> dict[str, Any]:
    return {
        "at": estimate.at,
        "value": finite(estimate.value),
        "lower": finite(estimate.lower),
        "upper": finite(estimate.upper),
        "n": estimate.n,
        "bound": str(bound),
        "dimension": estimate.dimension,
    }


def _fit_reasons(spec: ChaosSpec, objective: Objective, fits: Fits | None) -> Iterator[Judged]:
    for fit in (each for each in (fits.fits if fits else ()) if each.name == objective.fit):
        end = "lower" if objective.lower is not None else "upper"
        bound = objective.lower or objective.upper
        assert bound is not None
        place = _fit_position(bound, end, fit)
        threshold = fit.threshold
        reason = Reason(
            verdict=_verdict(spec, objective, place),
            severity=objective.severity,
            objective=objective.name,
            text=_fit_text(objective, bound, end, fit, place),
            at=f"fit {fit.name}",
            value=finite(threshold.value),
            lower=finite(threshold.lower),
            upper=finite(threshold.upper),
            n=threshold.n,
            bound=f"{end} {bound}",
            dimension=fit.dimension,
        )
        p = doubt(bound, threshold, _freedom(threshold)) if threshold.outcome == "fitted" else None
        yield Judged(reason, p)


def _freedom(threshold: Threshold) -> int:
    """The degrees of freedom behind a fitted interval: windows less doses, or less parameters where a dose has one."""
    within = threshold.windows - len(threshold.points or threshold.rates)
    return within if within > 0 else max(1, threshold.windows - int(threshold.goodness.get("parameters", 3.0)))


def _fit_position(bound: Bound, end: str, fit: FitResult) -> Position:
    """`inside` when the named end keeps the bound, `outside` when no point of the interval does."""
    threshold = fit.threshold
    lower, upper = finite(threshold.lower), finite(threshold.upper)
    named = lower if end == "lower" else upper
    best = lower if bound.upper else upper
    if (
        threshold.outcome == "refused"
        or threshold.n == 0
        or (lower is not None and upper is not None and lower > upper)
    ):
        return "missing"
    if named is not None and bound.holds(named):
        return "inside"
    if best is not None and not bound.holds(best):
        return "outside"
    return "missing" if named is None else "straddles"


def _fit_text(objective: Objective, bound: Bound, end: str, fit: FitResult, place: Position) -> str:
    threshold = fit.threshold
    # A bracket's reason says again between which doses it lies.
    because = "" if threshold.reason is None or threshold.outcome == "bracketed" else f" ({threshold.reason})"
    if threshold.outcome == "refused":
        return f"{objective.name}: fit {fit.name} found no threshold{because}"
    ends = range_text(threshold.lower, threshold.upper, fit.dimension)
    found = "the threshold lies within" if threshold.outcome == "bracketed" else "the threshold's interval is"
    words = _WORDS[place].format(bound=bound)
    count = f"{threshold.n} requests, fit {fit.name}"
    return f"{objective.name}: {found} {ends} ({count}); its {end} end is judged, {words}{because}"
