"""conclude: estimate, fit and judge, which is pure; then report and record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from chaosgate.artifacts import Identity, read_document, write_document
from chaosgate.artifacts.files import write_whole
from chaosgate.components.definition import Context
from chaosgate.components.inputs import phase_of, read_endpoint, read_phase, read_spec, read_statuses
from chaosgate.components.recording import place_of, record
from chaosgate.errors import ArtifactError
from chaosgate.estimate import PhaseData, RunData, estimate_run, fit_run
from chaosgate.judge import judge
from chaosgate.model.blocks import make_blocks
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.result import Endpoint, Estimates, Fits, Injection, Record, Status, Verdict
from chaosgate.model.spec import ChaosSpec
from chaosgate.report.render import render_report
from chaosgate.report.view import ReportView
from chaosgate.tracking.pages import TrackedRun


@dataclass(frozen=True)
class Gathered:
    """What could be read of a run, and a sentence for each thing that could not."""

    endpoint: Endpoint | None
    phases: Mapping[str, PhaseData]
    injections: Mapping[str, Injection]
    problems: tuple[str, ...]

    @property
    def timeline(self) -> tuple[TimelineEvent, ...]:
        """The events of all phases."""
        return tuple(chain.from_iterable(phase.timeline for phase in self.phases.values()))


@dataclass(frozen=True)
class Conclusion:
    """The pure part: what was estimated, fitted and judged. A run that cannot be estimated still has a verdict."""

    estimates: Estimates | None
    fits: Fits | None
    verdict: Verdict


def run(context: Context) -> Status:
    """The verdict first: whatever fails after it, the gate has its answer."""
    spec, identity = read_spec(context)
    gathered = gather(context, identity)
    conclusion = conclude(spec, gathered)
    if conclusion.estimates is not None:
        write_document(context.outputs["estimates"], "estimates", identity, conclusion.estimates)
    if conclusion.fits is not None:
        write_document(context.outputs["fit"], "fit", identity, conclusion.fits)
    finished = close_record(context, spec, conclusion, identity)
    write_document(context.outputs["record"], "record", identity, finished)
    write_document(context.outputs["verdict"], "verdict", identity, conclusion.verdict)
    view = view_of(context, spec, gathered, conclusion, finished)
    write_whole(context.outputs["report"], render_report(view).encode())
    recording = record(tracked(context, spec, gathered, conclusion, finished), context.state)
    write_document(context.outputs["recording"], "recording", identity, recording)
    return Status(status="ok")


def gather(context: Context, identity: Identity) -> Gathered:
    """Read every input; what is missing, cut or altered becomes a problem, and so does a step that failed."""
    problems: list[str] = []
    endpoint: Endpoint | None = None
    try:
        endpoint = read_endpoint(context, identity)
    except ArtifactError as error:
        problems.append(str(error))
    problems += failed_steps(context, identity)
    phases: dict[str, PhaseData] = {}
    for step in context.inputs["observations"]:
        try:
            phases[phase_of(step)] = read_phase(context, step, identity)
        except ArtifactError as error:
            problems.append(str(error))
    injections: dict[str, Injection] = {}
    for step, path in context.inputs["injection"].items():
        try:
            injections[phase_of(step)] = read_document(path, "injection", Injection, identity)
        except ArtifactError as error:
            problems.append(str(error))
    return Gathered(endpoint, phases, injections, tuple(problems))


def failed_steps(context: Context, identity: Identity) -> Iterator[str]:
    """A sentence for each step that failed. A step that declined is no failure: judge reads why from its artifact."""
    for step, status in read_statuses(context.inputs["status"], identity):
        if status.status == "failed":
            yield f"{step} failed: {status.reason}"


def conclude(spec: ChaosSpec, gathered: Gathered) -> Conclusion:
    """Estimate, fit and judge what was gathered."""
    subject = gathered.endpoint.subject if gathered.endpoint else None
    estimates: Estimates | None = None
    fits: Fits | None = None
    if subject is not None and gathered.phases:
        data = RunData(spec, make_blocks(spec), gathered.phases, gathered.injections, subject)
        estimates, fits = estimate_run(data), fit_run(data)
    return Conclusion(estimates, fits, judge(spec, estimates, gathered.injections, fits, subject, gathered.problems))


def close_record(context: Context, spec: ChaosSpec, conclusion: Conclusion, identity: Identity) -> Record:
    """The record deploy opened, with its answer."""
    opened = read_document(context.input("record"), "record", Record, identity)
    return opened.model_copy(
        update={
            "verdict": conclusion.verdict.verdict,
            "reasons": conclusion.verdict.reasons,
            "subject": conclusion.verdict.subject,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "recorded": place_of(spec, context.state),
        }
    )


def view_of(
    context: Context, spec: ChaosSpec, gathered: Gathered, conclusion: Conclusion, finished: Record
) -> ReportView:
    """What the report shows."""
    return ReportView(
        spec=spec,
        run=context.run,
        verdict=conclusion.verdict,
        estimates=conclusion.estimates,
        fits=conclusion.fits,
        injections=gathered.injections,
        record=finished,
        timeline=gathered.timeline,
    )


def tracked(
    context: Context, spec: ChaosSpec, gathered: Gathered, conclusion: Conclusion, finished: Record
) -> TrackedRun:
    """What MLflow is given: the results and every file of the run that can be read."""
    inputs = (path for files in context.inputs.values() for path in files.values())
    files = (path for path in (*inputs, *context.outputs.values()) if path.exists())
    return TrackedRun(
        run=context.run,
        spec=spec,
        verdict=conclusion.verdict,
        estimates=conclusion.estimates,
        fits=conclusion.fits,
        injections=tuple(gathered.injections.values()),
        record=finished,
        files=tuple(files),
    )
