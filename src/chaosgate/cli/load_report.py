"""What a load brought: the report as data, and the files that the command leaves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import click

from chaosgate.cli.load_fits import critical_rate, peak_load
from chaosgate.cli.load_histogram import Bin, histogram
from chaosgate.cli.load_options import PHASE, LoadOptions, LoadPlan
from chaosgate.cli.load_running import Measured
from chaosgate.cli.load_slo import SloResult, judge
from chaosgate.cli.writing import write_file
from chaosgate.errors import UsageError
from chaosgate.loadgen.saturation import highest_held
from chaosgate.loadgen.summary import Summary, summarise
from chaosgate.model.arrivals import TraceArrivals
from chaosgate.model.base import Frozen, Line
from chaosgate.model.fit import Threshold
from chaosgate.model.observation import Observation, Outcome, Sample
from chaosgate.model.sli import SLIS
from chaosgate.model.uri import without_password
from chaosgate.model.workload import FilePrompts, Workload

SCHEMA = "chaosgate/load-report.v1"
HISTOGRAMS = ("ttft", "itl")
Ended = Literal["planned", "stopped", "interrupted"]
FINE, MISSED, UNKNOWN = 0, 1, 3
"""Exit codes."""


class ErrorKind(Frozen):
    """Requests that failed in the same way, with the first of them as an example."""

    outcome: Outcome
    status: int | None
    why: Line | None
    """What the client or the server said."""
    count: int
    example: str
    """The request's name, which the server got in the header X-Chaosgate-Request."""
    at: float
    """When the example was due, in seconds from the start."""


class StepReport(Frozen):
    """One step of a sweep."""

    rate: float
    end: str
    """`held`, or why it was not: saturated, errors, slo, client, stopped."""
    why: Line
    summary: Summary | None
    """None where no request was due."""


class LoadReport(Frozen):
    """All that a load says of its server. Times are in seconds, rates a second."""

    url: str
    model: str
    workload: Workload
    """What was sent; files by name and digest, without what they hold."""
    started: str
    """In UTC, ISO 8601."""
    ended: Ended
    why_ended: Line | None
    seconds: float
    """How long requests were due, warm-up included."""
    warmup: float
    summary: Summary | None
    """None of a sweep, whose steps have one each, and where no request counts."""
    histograms: dict[str, tuple[Bin, ...]]
    """By SLI kind, of whole answers."""
    errors: tuple[ErrorKind, ...]
    slos: tuple[SloResult, ...]
    steps: tuple[StepReport, ...]
    highest_held: float | None
    """Of a sweep: the highest rate that the server held."""
    peak: Threshold | None
    """Of a sweep: the requests in flight at which throughput is greatest, by the Universal Scalability Law."""
    critical: Threshold | None
    """Of a sweep: the rate beyond which failures grow exponentially."""
    invalid: Line | None
    """Why the measurement says nothing of the server, None where it does."""
    exit_code: int


def load_report(plan: LoadPlan, measured: Measured) -> LoadReport:
    """The report of what was measured."""
    seen = measured.observations
    counted = [one for one in seen if not one.warmup]
    summary = None
    if plan.sweep is None and counted and measured.seconds > plan.warmup:
        summary = summarise(seen, measured.seconds, plan.warmup, plan.bounds)
    slos = () if plan.sweep else tuple(judge(plan.slos, plan.good, seen, (plan.warmup, measured.seconds)))
    steps = _steps(plan, measured)
    invalid = _invalid(plan, counted, summary, steps)
    report = LoadReport(
        url=without_password(measured.server.url),
        model=measured.server.model,
        workload=by_name(plan.workload),
        started=measured.started.isoformat(timespec="milliseconds"),
        ended="interrupted" if measured.signal else "stopped" if measured.stopped else "planned",
        why_ended=measured.stopped,
        seconds=measured.seconds,
        warmup=plan.warmup,
        summary=summary,
        histograms={name: histogram(_values(name, counted)) for name in HISTOGRAMS},
        errors=tuple(error_kinds(counted)),
        slos=slos,
        steps=steps,
        highest_held=highest_held(measured.steps),
        **_thresholds(plan, measured),
        invalid=invalid,
        exit_code=FINE,
    )
    return report.model_copy(update={"exit_code": exit_code(report, measured.signal)})


def by_name(workload: Workload) -> Workload:
    """`workload` without what its files hold: a trace of a million requests is no part of a report."""
    changes: dict[str, Any] = {}
    if isinstance(workload.arrivals, TraceArrivals):
        changes["arrivals"] = workload.arrivals.model_copy(update={"rows": None})
    if isinstance(workload.prompts, FilePrompts):
        changes["prompts"] = workload.prompts.model_copy(update={"text": None})
    return workload.model_copy(update=changes)


def exit_code(report: LoadReport, signal: int | None) -> int:
    """A signal wins, then a measurement that says nothing, then what was missed, then what cannot be told."""
    if signal is not None:
        return 128 + signal
    if report.invalid is not None:
        return UNKNOWN
    verdicts = {slo.verdict for slo in report.slos}
    if report.ended == "stopped" or "missed" in verdicts:
        return MISSED
    if report.steps and report.highest_held is None:
        return MISSED
    return UNKNOWN if "unclear" in verdicts else FINE


def _steps(plan: LoadPlan, measured: Measured) -> tuple[StepReport, ...]:
    by_phase: dict[str, list[Observation]] = {}
    for one in measured.observations:
        by_phase.setdefault(one.phase, []).append(one)
    steps = []
    for number, step in enumerate(measured.steps):
        seen = by_phase.get(f"step{number}", [])
        assert plan.sweep is not None
        summary = summarise(seen, plan.sweep.hold, 0.0, plan.bounds) if seen else None
        steps.append(StepReport(rate=step.rate, end=step.end, why=step.why, summary=summary))
    return tuple(steps)


def _thresholds(plan: LoadPlan, measured: Measured) -> dict[str, Threshold | None]:
    """What the steps that were not void tell; None where no sweep was asked for."""
    if plan.sweep is None:
        return {"peak": None, "critical": None}
    told = [(number, step) for number, step in enumerate(measured.steps) if step.end not in ("client", "stopped")]
    steps = {step.rate: [one for one in measured.observations if one.phase == f"step{number}"] for number, step in told}
    hold = plan.sweep.hold
    return {"peak": peak_load(steps, hold), "critical": critical_rate(steps, hold, plan.bounds)}


def _invalid(
    plan: LoadPlan, counted: Sequence[Observation], summary: Summary | None, steps: Sequence[StepReport]
) -> str | None:
    """Why nothing can be said of the server."""
    if not counted:
        return "no request was counted: none was sent, or all were of the warm-up; send for longer"
    if not any(one.status is not None for one in counted) and any(one.outcome != "cancelled" for one in counted):
        return "the server answered no request at all; is it up?"
    # Whoever gave a bound is told that it was missed; whoever gave none must not take this for a measurement.
    bounded = plan.slos or plan.stops or steps
    if not bounded and not any(one.outcome in ("ok", "cancelled") for one in counted):
        return f"none of {len(counted)} requests had a whole answer; what went wrong stands under errors"
    if steps and steps[-1].end == "client":
        return steps[-1].why
    return None if summary is None else summary.invalid


def _values(name: str, observations: Sequence[Observation]) -> list[float]:
    kind = SLIS.get(name)
    return [value for one in observations for value in kind.values(Sample(one, None))]


def error_kinds(observations: Sequence[Observation]) -> list[ErrorKind]:
    """The ways in which requests failed, the most frequent first."""
    failed = [one for one in observations if one.outcome not in ("ok", "cancelled")]
    counts = Counter((one.outcome, one.status, one.why) for one in failed)
    first = {(one.outcome, one.status, one.why): one for one in reversed(failed)}
    return [
        ErrorKind(
            outcome=key[0], status=key[1], why=key[2], count=count, example=first[key].request, at=first[key].scheduled
        )
        for key, count in counts.most_common()
    ]


def finish(options: LoadOptions, plan: LoadPlan, measured: Measured) -> int:
    """Print and write what was asked for; the exit code."""
    report = load_report(plan, measured)
    text = json.dumps(report_json(report), indent=2, ensure_ascii=False)
    if options.output == "json":
        click.echo(text)
    else:
        from chaosgate.cli.console import make_console
        from chaosgate.cli.load_text import report_text

        make_console().print(report_text(report))
    if options.file is not None:
        if options.export is not None:
            text = json.dumps(exported(options.export, report, measured, plan), indent=2)
        write_file(options.file, text + "\n", "-O")
    if options.save is not None:
        save(options.save, report, measured.observations)
    return report.exit_code


def report_json(report: LoadReport) -> dict[str, Any]:
    """The report as JSON."""
    return {"schema": SCHEMA, **report.to_json()}


def exported(tool: str, report: LoadReport, measured: Measured, plan: LoadPlan) -> dict[str, Any]:
    """The result as vLLM's benchmark or GuideLLM writes it, with as much of the set-up as there is a name for."""
    from chaosgate.loadgen.exports import guidellm, vllm

    if tool == "guidellm":
        return {"benchmarks": [{"metrics": guidellm.export(measured.observations), "duration": report.seconds}]}
    names = {"ttft": "ttft", "tpot": "tpot", "e2e": "e2el"}
    bounds = {names[one.sli]: 1000 * one.bound.value for one in plan.bounds if one.sli in names and one.bound.upper}
    result = vllm.export(measured.observations, bounds or None)
    rate = plan.workload.mean_rate(report.seconds)
    return {
        "date": f"{measured.started:%Y%m%d-%H%M%S}",
        "endpoint_type": "openai-chat",
        "model_id": report.model,
        "num_prompts": result["completed"] + result["failed"],
        "request_rate": "inf" if rate is None else rate,
        "max_concurrency": plan.workload.concurrency,
        **result,
    }


def save(folder: Path, report: LoadReport, observations: Sequence[Observation]) -> None:
    """`report.json`, and `observations.jsonl` in the form of a run's; a UsageError where they cannot be written."""
    from chaosgate.artifacts import OBSERVATIONS, Identity, write_lines

    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_lines(folder / OBSERVATIONS.file, OBSERVATIONS, Identity(PHASE, PHASE), observations)
    except OSError as error:
        raise UsageError(f"--save {folder}: cannot be written: {error.strerror}; choose another folder") from error
    write_file(folder / "report.json", json.dumps(report_json(report), indent=2, ensure_ascii=False) + "\n", "--save")
