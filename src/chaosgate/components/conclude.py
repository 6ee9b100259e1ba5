"""conclude: estimate, fit and judge, which is pure; then report and record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from chaosgate.artifacts import ARTIFACTS, ESTIMATES, FIT, RECORD, RECORDING, SPEC, VERDICT, write_document
from chaosgate.artifacts.files import is_written, write_whole
from chaosgate.components.aborting import Abort, abort_of
from chaosgate.components.definition import Context
from chaosgate.components.environment import environment
from chaosgate.components.gathering import Gathered, gather
from chaosgate.components.inputs import read_spec
from chaosgate.components.recording import place_of, record
from chaosgate.estimate import RunData, estimate_run, fit_run
from chaosgate.judge import judge
from chaosgate.model.blocks import make_blocks
from chaosgate.model.plan import CONCLUDE, DEPLOY
from chaosgate.model.result import Estimates, Fits, Record, Status, Verdict
from chaosgate.model.spec import ChaosSpec
from chaosgate.report.markdown import render_markdown
from chaosgate.report.render import render_report
from chaosgate.report.view import ReportView
from chaosgate.tracking.pages import TrackedRun


@dataclass(frozen=True)
class Conclusion:
    """The pure part: what was estimated, fitted and judged. A run that cannot be estimated still has a verdict."""

    estimates: Estimates | None
    fits: Fits | None
    verdict: Verdict


def run(context: Context) -> Status:
    """The verdict once all it rests on is written, so that a full disk leaves none; report and MLflow may fail then."""
    spec, identity = read_spec(context)
    gathered = unless_aborted(gather(context, identity), abort_of(context))
    conclusion = conclude(spec, gathered)
    if conclusion.estimates is not None:
        write_document(context.outputs["estimates"], ESTIMATES, identity, conclusion.estimates)
    if conclusion.fits is not None:
        write_document(context.outputs["fit"], FIT, identity, conclusion.fits)
    finished = close_record(context, spec, gathered.opened, conclusion.verdict)
    write_document(context.outputs["record"], RECORD, identity, finished)
    write_document(context.outputs["verdict"], VERDICT, identity, conclusion.verdict)
    view = view_of(context, spec, gathered, conclusion, finished)
    write_whole(context.outputs["summary"], render_markdown(view).encode())
    write_whole(context.outputs["report"], render_report(view).encode())
    recording = record(tracked(context, spec, gathered, conclusion, finished), context.state)
    write_document(context.outputs["recording"], RECORDING, identity, recording)
    return Status(status="ok")


def unless_aborted(gathered: Gathered, abort: Abort | None) -> Gathered:
    """What is to be judged: of an aborted run nothing but that it was aborted, for it ended before it was over."""
    return gathered if abort is None else replace(gathered, phases={}, problems=(abort.sentence(),))


def conclude(spec: ChaosSpec, gathered: Gathered) -> Conclusion:
    """Estimate, fit and judge what was gathered."""
    subject = gathered.endpoint.subject if gathered.endpoint else None
    estimates: Estimates | None = None
    fits: Fits | None = None
    if subject is not None and gathered.phases:
        data = RunData(spec, make_blocks(spec), gathered.phases, gathered.injections, subject)
        estimates, fits = estimate_run(data), fit_run(data)
    return Conclusion(estimates, fits, judge(spec, estimates, gathered.injections, fits, subject, gathered.problems))


def close_record(context: Context, spec: ChaosSpec, opened: Record | None, verdict: Verdict) -> Record:
    """The record deploy opened, with its answer; where it cannot be read, a record that knows only the end."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Record(
        name=spec.metadata.name,
        verdict=verdict.verdict,
        reasons=verdict.reasons,
        subject=verdict.subject,
        started=opened.started if opened else now,
        finished=now,
        environment=opened.environment if opened else environment(),
        recorded=place_of(spec, context.state),
        overrides=spec.spec.safety.overrides,
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
    return TrackedRun(
        run=context.run,
        spec=spec,
        verdict=conclusion.verdict,
        estimates=conclusion.estimates,
        fits=conclusion.fits,
        injections=tuple(gathered.injections.values()),
        record=finished,
        files=files_of(context),
    )


def files_of(context: Context) -> dict[str, Path]:
    """Every file of the run that holds anything, named as it lies in a run's folder: `<step>/<file>`."""
    named = {f"{DEPLOY}/{ARTIFACTS[port].file}": path for port, path in context.inputs.items() if port != SPEC.name}
    named[SPEC.file] = context.inputs[SPEC.name]
    for port, found in context.gathered.items():
        named |= {f"{step}/{ARTIFACTS[port].file}": path for step, path in found.items()}
    named |= {f"{CONCLUDE}/{ARTIFACTS[port].file}": path for port, path in context.outputs.items()}
    return {name: path for name, path in named.items() if is_written(path)}
