"""The sections of a report as plain data: every sentence, fact and table cell, before any HTML."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from chaosgate.judge.trust import MAX_SCHEDULE_DELAY, counted, healing
from chaosgate.model.fault import ClusterFault, DoseAxis
from chaosgate.model.fit import Fit
from chaosgate.model.result import RANK, Estimate, FitResult, Health, Reason, Subject, VerdictName, WitnessReading
from chaosgate.model.spec import ChaosSpec
from chaosgate.report.advice import cleanup_sentence
from chaosgate.report.phases import WindowRow, windows_of
from chaosgate.report.table import MISSING, Cell, estimate_cell, format_interval
from chaosgate.report.view import ReportView
from chaosgate.units import format_value

MEANING: dict[VerdictName, str] = {
    "pass": "Every gate objective holds. This subject may be deployed.",
    "warn": "Every gate objective holds, but a warning stands. This subject may be deployed.",
    "fail": "A gate objective is broken. This subject must not be deployed.",
    "inconclusive": "The data do not decide. Nothing is proved for or against this subject.",
    "error": "The run itself went wrong. It says nothing about this subject.",
}


@dataclass(frozen=True)
class Fact:
    """A labelled fact; `bad` marks one that spoils the run."""

    label: str
    value: str
    bad: bool = False


@dataclass(frozen=True)
class DoseTable:
    """Every SLI of a fault at every dose: `slis` are the columns, `rows` hold a label and a cell for each of them."""

    fault: str
    slis: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True)
class WitnessRow:
    """What was seen of a fault before, at the dose and after it."""

    fault: str
    what: str
    dose: str
    before: str
    during: str
    after: str
    applied: str
    bitten: bool
    gone: bool
    reason: str
    healing: str
    """Of a fault of the cluster: how soon its target was whole again, and what broke off."""


def sorted_reasons(reasons: tuple[Reason, ...]) -> list[Reason]:
    """The reasons, worst first, otherwise in the order they were judged."""
    return sorted(reasons, key=lambda reason: -RANK.index(reason.verdict))


def run_duration(started: str, finished: str | None) -> str:
    """How long a run took, such as `1 min 38 s`; says so when it did not finish."""
    if finished is None:
        return "not finished"
    spent: timedelta = datetime.fromisoformat(finished) - datetime.fromisoformat(started)
    minutes, seconds = divmod(round(spent.total_seconds()), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def clock_time(iso: str) -> str:
    """`2026-03-01 09:30:00 UTC` from an ISO 8601 time with its offset."""
    return f"{datetime.fromisoformat(iso).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def threshold_sentence(fit: Fit, result: FitResult, axis: DoseAxis) -> str:
    """What a fit found, in words: a value with its interval, a bracket, or why there is nothing."""
    threshold = result.threshold
    finds = fit.finds()
    basis = f"{threshold.n} requests in {threshold.windows} windows"
    lower, upper = (format_value(end, result.dimension) for end in (threshold.lower, threshold.upper))
    if threshold.outcome == "fitted":
        value = format_value(threshold.value, result.dimension)
        interval = format_interval(threshold.lower, threshold.upper, result.dimension)
        note = f" Note: {threshold.reason}." if threshold.reason else ""
        return f"At a {axis.parameter} of {value} {interval}, {finds} ({basis}).{note}"
    if threshold.outcome == "bracketed":
        return (
            f"The doses separate, so no curve is fitted: the {axis.parameter} at which {finds} lies "
            f"between {lower} and {upper} ({basis})."
        )
    return f"No threshold: {threshold.reason or 'no reason was given'} ({basis})."


def dose_tables(view: ReportView) -> tuple[DoseTable, ...]:
    """A table for each fault of the spec that has estimates by dose."""
    estimates = () if view.estimates is None else view.estimates.doses
    tables = []
    for fault in view.spec.spec.faults:
        here = [estimate for estimate in estimates if estimate.fault == fault.name]
        if here:
            tables.append(_dose_table(fault.name, here))
    return tuple(tables)


def _dose_table(fault: str, estimates: list[Estimate]) -> DoseTable:
    slis = tuple(dict.fromkeys(estimate.sli for estimate in estimates))
    by_place = {(_dose_label(estimate), estimate.sli): estimate for estimate in estimates}
    labels = dict.fromkeys(_dose_label(estimate) for estimate in sorted(estimates, key=lambda found: found.dose or 0.0))
    rows = tuple((label, tuple(estimate_cell(by_place.get((label, sli))) for sli in slis)) for label in labels)
    return DoseTable(fault, slis, rows)


def _dose_label(estimate: Estimate) -> str:
    return "controls (dose 0)" if estimate.place == "control" else estimate.at


def witness_rows(view: ReportView) -> tuple[WitnessRow, ...]:
    """A row for each witness reading."""
    readings = () if view.estimates is None else view.estimates.witnesses
    return tuple(_witness_row(reading, view.spec) for reading in readings)


def _witness_row(reading: WitnessReading, spec: ChaosSpec) -> WitnessRow:
    axis = spec.fault(reading.fault).axis()
    before, during, after = (
        format_value(value, reading.dimension) for value in (reading.before, reading.during, reading.after)
    )
    return WitnessRow(
        fault=reading.fault,
        what=reading.what,
        dose=format_value(reading.dose, axis.dimension),
        before=before,
        during=during,
        after=after,
        applied=counted(spec, reading),
        bitten=reading.bitten,
        gone=reading.gone,
        reason=reading.reason or "",
        healing="; ".join(healing(reading)),
    )


def touched_words(view: ReportView) -> str:
    """How many requests were touched and objects changed, by the kinds of faults that the spec has."""
    cluster = {fault.name for fault in view.spec.spec.faults if isinstance(fault, ClusterFault)}
    rows = windows_of(view)
    requests = sum(row.applied or 0 for row in rows if row.fault not in cluster)
    words = [f"{requests} requests touched"] if len(cluster) < len(view.spec.spec.faults) else []
    if cluster:
        words.append(f"{sum(row.applied or 0 for row in rows if row.fault in cluster)} objects changed")
    return ", ".join(words)


def window_cells(view: ReportView) -> list[tuple[str, ...]]:
    """The windows as rows of text: phase, fault, window, dose, on, off, how much was touched, how it ended."""
    return [_window_cells(row, view.spec) for row in windows_of(view)]


def _window_cells(row: WindowRow, spec: ChaosSpec) -> tuple[str, ...]:
    dose = "0 (control)" if row.dose == 0 else format_value(row.dose, spec.fault(row.fault).axis().dimension)
    off = MISSING if row.off is None else f"{row.off:.2f}"
    applied = MISSING if row.applied is None else str(row.applied)
    return row.phase, row.fault, str(row.window), dose, f"{row.on:.2f}", off, applied, row.ended


def injection_notes(view: ReportView) -> list[str]:
    """A sentence for each block that was declined, failed or halted."""
    notes = []
    for phase, injection in sorted(view.injections.items()):
        if injection.status.status != "ok":
            notes.append(f"{phase}: {injection.status.status}: {injection.status.reason or 'no reason was given'}")
        if injection.halted is not None:
            notes.append(f"{phase}: halted: {injection.halted}")
    return notes


def health_facts(health: Health) -> list[Fact]:
    """Whether the measurement can be trusted, fact by fact."""
    delay = health.schedule_delay_p99
    share = health.straddlers / health.requests if health.requests else None
    late = delay is None or delay > MAX_SCHEDULE_DELAY
    limit = format_value(MAX_SCHEDULE_DELAY, "duration")
    return [
        Fact("schedule delay p99", f"{format_value(delay, 'duration')} (at most {limit} is allowed)", late),
        Fact("requests", _requests(health), health.requests == 0),
        Fact("left out, in no window", f"{health.straddlers} ({format_value(share, 'share')})"),
        Fact("drift of the controls", "; ".join(health.drift) or "none", bool(health.drift)),
        Fact("gaps in the data", "; ".join(health.gaps) or "none", bool(health.gaps)),
        Fact("subject", health.subject_changed or "unchanged until the last window", bool(health.subject_changed)),
        Fact("gauges missing", "; ".join(health.gauges_missing) or "none"),
        Fact("other problems", "; ".join(health.problems) or "none", bool(health.problems)),
    ]


def _requests(health: Health) -> str:
    if not health.unguarded:
        return str(health.requests)
    return f"{health.requests}, of them {health.unguarded} unguarded: these are the witnesses', all others are judged"


def subject_facts(subject: Subject) -> list[Fact]:
    """What the verdict is about."""
    arguments = " ".join(f"{key}={value}" for key, value in sorted(subject.arguments.items()))
    return [
        Fact("model", subject.model),
        Fact("engine", " ".join(filter(None, (subject.engine, subject.engine_version)))),
        Fact("weights", subject.weights_digest or "not reported"),
        Fact("image", subject.image_digest or "no image"),
        Fact("arguments", arguments or "none reported"),
    ]


def record_facts(view: ReportView) -> list[Fact]:
    """Where the run is found again."""
    return [
        Fact("run", view.run),
        Fact("recorded in", view.record.recorded),
        Fact("spec digest", view.spec.digest()),
        Fact("exit code", str(view.exit_code if view.ended else view.verdict.exit_code)),
        *(Fact(f"overridden: {one.rule}", one.reason) for one in view.record.overrides),
        Fact("cleanup", cleanup_sentence(view), view.ended and not view.sealed_clean),
        *(Fact(f"file {file.path}", str(file.problem)) for file in view.missing),
        *(Fact(key, value) for key, value in sorted(view.spec.metadata.annotations.items()) if key != "proves"),
        *(Fact(f"label {key}", value) for key, value in sorted(view.spec.metadata.labels.items())),
    ]
