"""What is written of a run, before any MLflow: one page for the run and one for each of its faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaosgate.model.base import Frozen
from chaosgate.model.fault import Fault
from chaosgate.model.result import Estimate, Estimates, Fits, Injection, Record, Verdict
from chaosgate.model.spec import ChaosSpec, canonical_json
from chaosgate.tracking import points
from chaosgate.tracking.names import MAX_TAG, cut, flat
from chaosgate.tracking.points import Point

RUN_TAG = "chaosgate.run"
FAULT_TAG = "chaosgate.fault"
SEAL_TAG = "chaosgate.seal"
DIGEST_TAG = "chaosgate.spec_digest"
COMMIT_TAG = "mlflow.source.git.commit"
"""MLflow's own tag: its UI shows it as the version of a run."""
MAX_REASON = 250
"""A reason as a tag is a line in a table; the whole text is in verdict.json."""


@dataclass(frozen=True)
class TrackedRun:
    """All that is known of a run, finished or not. `files`: the name of each below its folder, and where it is."""

    run: str
    spec: ChaosSpec
    verdict: Verdict
    estimates: Estimates | None
    fits: Fits | None
    injections: Sequence[Injection]
    record: Record
    files: Mapping[str, Path]


@dataclass(frozen=True)
class Page:
    """The content of one MLflow run: its name, flat parameters, metric points and tags."""

    name: str
    params: dict[str, str]
    points: tuple[Point, ...]
    tags: dict[str, str]


def run_page(tracked: TrackedRun) -> Page:
    """The parent's page: the whole spec as parameters, objectives and fits as metrics, the verdict as tags."""
    return Page(
        tracked.run,
        _run_params(tracked.spec),
        run_points(tracked.spec, tracked.estimates, tracked.fits),
        _run_tags(tracked),
    )


def fault_page(tracked: TrackedRun, fault: Fault) -> Page:
    """A child's page: one fault's parameters, its estimates by dose, its witness, its fits and its time series."""
    tags = {RUN_TAG: tracked.run, FAULT_TAG: fault.name, DIGEST_TAG: tracked.spec.digest()}
    params = {**flat("fault", fault.to_json()), "seed": str(tracked.spec.spec.workload.seed)}
    return Page(f"{tracked.run}/{fault.name}", params, _distinct(_fault_points(tracked, fault)), tags)


def _run_params(spec: ChaosSpec) -> dict[str, str]:
    body = spec.spec
    params = {"spec.name": spec.metadata.name, "spec.apiVersion": spec.api_version, "seed": str(body.workload.seed)}
    for fault in body.faults:
        params |= flat(f"fault.{fault.name}", _without_name(fault))
    params |= flat("load", body.workload.to_json())
    params |= flat("slo.steady-state", {bound.sli: str(bound.bound) for bound in body.steady_state.objectives})
    for objective in body.objectives:
        params |= flat(f"slo.{objective.name}", _without_name(objective))
    return params


def _without_name(part: Frozen) -> dict[str, Any]:
    return {field: value for field, value in part.to_json().items() if field != "name"}


def _run_tags(tracked: TrackedRun) -> dict[str, str]:
    tags = {
        RUN_TAG: tracked.run,
        "chaosgate.verdict": tracked.verdict.verdict,
        "chaosgate.reason": cut(_deciding_reason(tracked.verdict), MAX_REASON),
        "chaosgate.spec": tracked.spec.metadata.name,
        DIGEST_TAG: tracked.spec.digest(),
        "chaosgate.engine": tracked.spec.spec.target.engine,
    }
    for card in tracked.estimates.scorers if tracked.estimates else ():
        tags[f"scorer.{card.name}"] = cut(card.reason or f"{card.version} {card.digest}", MAX_TAG)
    if rules := [one.rule for one in tracked.record.overrides]:
        tags["chaosgate.overrides"] = ", ".join(rules)
    if commit := tracked.record.environment.get("git"):
        tags[COMMIT_TAG] = commit
    if subject := tracked.verdict.subject or tracked.record.subject:
        said = {name: value for name, value in subject.to_json().items() if value is not None}
        said["arguments"] = canonical_json(said["arguments"])
        tags |= {f"subject.{name}": cut(str(value), MAX_TAG) for name, value in said.items()}
    return tags


def _deciding_reason(verdict: Verdict) -> str:
    deciding = [reason.text for reason in verdict.reasons if reason.verdict == verdict.verdict]
    return next(iter(deciding or [reason.text for reason in verdict.reasons]), "")


def run_points(spec: ChaosSpec, estimates: Estimates | None, fits: Fits | None) -> tuple[Point, ...]:
    """The numbers of a run as a whole: steady state, objectives, health and thresholds; each name once."""
    return _distinct(_run_points(spec, estimates, fits))


def _run_points(spec: ChaosSpec, estimates: Estimates | None, fits: Fits | None) -> Iterator[Point]:
    if estimates is not None:
        yield from points.of_estimates(estimates.steady_state)
        several = len(spec.spec.faults) > 1
        for estimate in _judged(estimates):
            place = f"{estimate.fault}/" if several and estimate.fault else ""
            yield from points.of_estimates([estimate], place)
        yield from points.of_health(estimates.health)
    if fits is not None:
        yield from points.of_fits(fits.fits)


def _fault_points(tracked: TrackedRun, fault: Fault) -> Iterator[Point]:
    if tracked.fits is not None:
        yield from points.of_fits(fit for fit in tracked.fits.fits if fit.fault == fault.name)
    if tracked.estimates is None:
        return
    estimates = (*tracked.estimates.doses, *_judged(tracked.estimates))
    yield from points.of_estimates(estimate for estimate in estimates if estimate.fault == fault.name)
    for witness in tracked.estimates.witnesses:
        if witness.fault == fault.name:
            yield from points.of_witness(witness)
    windows = [window for injection in tracked.injections for window in injection.windows if window.fault == fault.name]
    yield from points.of_series(tracked.estimates.series, windows, fault.axis().dimension)


def _judged(estimates: Estimates) -> Iterator[Estimate]:
    for objective in estimates.objectives:
        yield from objective.estimates
        yield from (estimate for estimate in (objective.baseline, objective.recovery) if estimate is not None)


def _distinct(found: Iterator[Point]) -> tuple[Point, ...]:
    return tuple({(point.key, point.step): point for point in found}.values())
