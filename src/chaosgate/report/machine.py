"""The report of a run as one JSON document, and its JSON Schema: everything a page shows, as numbers in base units."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import Field

from chaosgate.model.base import Frozen, Line
from chaosgate.model.result import (
    Cleanup,
    Estimate,
    Estimates,
    FitResult,
    Health,
    Injection,
    Reason,
    Record,
    Subject,
    VerdictName,
    WitnessReading,
    worst,
)
from chaosgate.model.spec import ChaosSpec, Objective
from chaosgate.report.schema import schema_text
from chaosgate.report.view import ReportView

SCHEMA = "chaosgate/run-report/v1"


class SpecName(Frozen):
    """Which spec was run."""

    name: str
    digest: str
    labels: dict[str, str]
    annotations: dict[str, str]


class JudgedObjective(Frozen):
    """One objective of the spec with what it rests on. An objective on a fit is judged by its threshold."""

    objective: Objective
    verdict: VerdictName | None
    """The worst of its reasons, None when it was not judged."""
    estimates: tuple[Estimate, ...]
    """In the order in which they are judged."""
    baseline: Estimate | None
    recovery: Estimate | None
    after: float | None
    """With `at: recovery`: seconds after the last `off` from which on the estimate was taken."""


class SteadyStates(Frozen):
    """The objectives of the steady state, before the first injection and after the last; empty when not estimated."""

    baseline: tuple[Estimate, ...]
    recovery: tuple[Estimate, ...]


class FileState(Frozen):
    """A file that the run was to leave behind."""

    path: str
    """Below the run's folder."""
    problem: Line | None
    """Why it cannot be read, None when it can."""


class RunReport(Frozen):
    """A whole run. Numbers are in base units (seconds, requests a second, fractions); None is "there is no number"."""

    schema_: Literal["chaosgate/run-report/v1"] = Field(alias="schema")
    run: str
    spec: SpecName
    verdict: VerdictName
    exit_code: int
    """4 unless the run is sealed clean, else what follows from the verdict: 0, 1 or 3."""
    reasons: tuple[Reason, ...]
    steady_state: SteadyStates
    objectives: tuple[JudgedObjective, ...]
    doses: tuple[Estimate, ...]
    """Every SLI the spec names at every dose; the controls are dose 0."""
    thresholds: tuple[FitResult, ...]
    witnesses: tuple[WitnessReading, ...]
    injections: tuple[Injection, ...]
    health: Health | None
    """None when nothing was estimated."""
    subject: Subject | None
    """None when the target was not read back."""
    record: Record
    seal: Cleanup | None
    """What cleanup left, None until the run is sealed."""
    files: tuple[FileState, ...]


def render_json(view: ReportView) -> str:
    """The document as text, equal for equal input; it holds neither NaN nor infinity."""
    return json.dumps(run_report(view).to_json(), indent=2, allow_nan=False) + "\n"


def run_report_schema() -> str:
    """The JSON Schema of the document, as the text of its file."""
    return schema_text(RunReport, "run-report", "Report of a chaosgate run, v1")


def run_report(view: ReportView) -> RunReport:
    """The document of one run."""
    estimates = view.estimates
    return RunReport(
        schema_=SCHEMA,
        run=view.run,
        spec=_spec_name(view.spec),
        verdict=view.verdict.verdict,
        exit_code=view.exit_code,
        reasons=view.verdict.reasons,
        steady_state=_steady_states(estimates),
        objectives=tuple(_judged(view, objective) for objective in view.spec.spec.objectives),
        doses=() if estimates is None else estimates.doses,
        thresholds=() if view.fits is None else view.fits.fits,
        witnesses=() if estimates is None else estimates.witnesses,
        injections=tuple(view.injections[phase] for phase in sorted(view.injections)),
        health=None if estimates is None else estimates.health,
        subject=view.verdict.subject or view.record.subject,
        record=view.record,
        seal=view.seal,
        files=tuple(FileState(path=file.path, problem=file.problem) for file in view.files),
    )


def _spec_name(spec: ChaosSpec) -> SpecName:
    metadata = spec.metadata
    return SpecName(name=metadata.name, digest=spec.digest(), labels=metadata.labels, annotations=metadata.annotations)


def _steady_states(estimates: Estimates | None) -> SteadyStates:
    if estimates is None:
        return SteadyStates(baseline=(), recovery=())
    return SteadyStates(baseline=estimates.steady_state, recovery=estimates.recovered)


def _judged(view: ReportView, objective: Objective) -> JudgedObjective:
    known = () if view.estimates is None else view.estimates.objectives
    found = next((item for item in known if item.objective == objective.name), None)
    reasons = [reason for reason in view.verdict.reasons if reason.objective == objective.name]
    return JudgedObjective(
        objective=objective,
        verdict=worst(reasons) if reasons else None,
        estimates=found.estimates if found else (),
        baseline=found.baseline if found else None,
        recovery=found.recovery if found else None,
        after=found.after if found else None,
    )
