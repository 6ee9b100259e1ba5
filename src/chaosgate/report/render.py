"""The report of a run as one self-contained HTML page: no script, no request, equal bytes for equal input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from chaosgate.model.fit import Fit
from chaosgate.model.result import FitResult
from chaosgate.report import sections
from chaosgate.report.change_points import change_section
from chaosgate.report.phases import marks_of, stretches_of, windows_of
from chaosgate.report.plots.dose_response import dose_response_plot
from chaosgate.report.plots.throughput import throughput_plot
from chaosgate.report.plots.timeline import TimelineData, timeline_plot
from chaosgate.report.table import objective_rows
from chaosgate.report.view import ReportView

WINDOW_COLUMNS = ("phase", "fault", "window", "dose", "on [s]", "off [s]", "touched", "ended")


@dataclass(frozen=True)
class ThresholdSection:
    """One fit on the page: what was found in words, the plot and the goodness of fit."""

    name: str
    kind: str
    outcome: str
    sentence: str
    plot: Markup
    goodness: str


def render_report(view: ReportView) -> str:
    """The page. What a run did not produce is named as missing; text from the spec is escaped."""
    environment = Environment(
        loader=PackageLoader("chaosgate.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(_context(view))


def _context(view: ReportView) -> dict[str, Any]:
    subject = view.verdict.subject or view.record.subject
    health = None if view.estimates is None else view.estimates.health
    return {
        "view": view,
        "verdict": view.verdict.verdict,
        "meaning": sections.MEANING[view.verdict.verdict],
        "proves": view.spec.metadata.annotations.get("proves"),
        "started": sections.clock_time(view.record.started),
        "duration": sections.run_duration(view.record.started, view.record.finished),
        "reasons": sections.sorted_reasons(view.verdict.reasons),
        "holding": [reason for reason in view.verdict.reasons if reason.verdict == "pass"],
        "objectives": objective_rows(view.spec, view.verdict, view.estimates, view.fits),
        "thresholds": _thresholds(view),
        "timeline": Markup(_timeline(view)),
        "gauges": () if view.estimates is None else view.estimates.gauges,
        "change_points": change_section(view),
        "notes": sections.injection_notes(view),
        "window_columns": WINDOW_COLUMNS,
        "windows": sections.window_cells(view),
        "touched": sections.touched_words(view),
        "controls": sum(row.dose == 0 for row in windows_of(view)),
        "dose_tables": sections.dose_tables(view),
        "witnesses": sections.witness_rows(view),
        "health": None if health is None else sections.health_facts(health),
        "subject": None if subject is None else sections.subject_facts(subject),
        "subject_name": view.spec.spec.target.model if subject is None else subject.model,
        "record": sections.record_facts(view),
        "environment": [sections.Fact(*item) for item in sorted(view.record.environment.items())],
        "spec_text": yaml.safe_dump(view.spec.to_json(), sort_keys=False, allow_unicode=True),
    }


def _thresholds(view: ReportView) -> list[ThresholdSection]:
    results = {} if view.fits is None else {result.name: result for result in view.fits.fits}
    return [_threshold(view, fit, results[fit.name]) for fit in view.spec.spec.fits if fit.name in results]


def _threshold(view: ReportView, fit: Fit, result: FitResult) -> ThresholdSection:
    axis = view.spec.fault(fit.fault).axis()
    sentence = sections.threshold_sentence(fit, result, axis)
    plot = throughput_plot if fit.reads == "amounts" else dose_response_plot
    return ThresholdSection(
        name=fit.name,
        kind=fit.kind,
        outcome=result.threshold.outcome,
        sentence=sentence,
        plot=Markup(plot(fit, result, axis.parameter, sentence)),
        goodness=", ".join(f"{name} {value:.3g}" for name, value in sorted(result.threshold.goodness.items())),
    )


def _timeline(view: ReportView) -> str:
    windows = windows_of(view)
    data = TimelineData(
        series=() if view.estimates is None else view.estimates.series,
        windows=windows,
        stretches=stretches_of(view),
        marks=marks_of(view),
        axes={fault.name: fault.axis().dimension for fault in view.spec.spec.faults},
        gauges=() if view.estimates is None else view.estimates.gauges,
    )
    beside = f"; below it {', '.join(gauge.name for gauge in data.gauges)}" if data.gauges else ""
    return timeline_plot(
        data,
        f"Time to first token, share of errors and request rate for each second; {len(windows)} windows are shaded by "
        f"dose; halts and expiries marked: {len(data.marks)}{beside}",
    )
