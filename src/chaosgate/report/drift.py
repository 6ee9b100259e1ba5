"""Whether a threshold drifts over versions: of each version the mean of its runs, and the trend of these."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from chaosgate.model.base import Frozen, Line
from chaosgate.model.fit import Threshold
from chaosgate.model.result import Subject
from chaosgate.report.view import ReportView
from chaosgate.statistics.trend import MIN_POINTS, trend_of
from chaosgate.units import Dimension, format_value

DIGITS = 12
"""Of a digest, as it is shown."""


class ThresholdPoint(Frozen):
    """The threshold of one run."""

    run: str
    started: str
    version: Line
    """What was tested: model, engine, and the digests that are known."""
    outcome: str
    value: float | None
    lower: float | None
    upper: float | None


class ThresholdDrift(Frozen):
    """One fit over the runs of a spec. `slope` is the change from one version to the next, None for too few."""

    fit: str
    fault: str
    dimension: Dimension
    points: tuple[ThresholdPoint, ...]
    """The earliest run first."""
    versions: tuple[tuple[Line, float], ...]
    """Each version with the mean of its fitted thresholds, in the order of their first runs."""
    slope: float | None
    lower: float | None
    upper: float | None
    p: float | None
    """Of Mann-Kendall's test."""
    text: Line
    """What the trend shows, in words."""


def drifts(views: Sequence[ReportView]) -> tuple[ThresholdDrift, ...]:
    """The drift of every threshold of `views`, runs of one spec; only those that are sealed clean count.

    A run that failed counts: its threshold was measured all the same.
    """
    sealed = sorted((view for view in views if view.sealed_clean), key=lambda view: (view.record.started, view.run))
    if not sealed:
        return ()
    return tuple(_drift(fit.name, fit.fault, sealed) for fit in sealed[-1].spec.spec.fits)


def _drift(name: str, fault: str, views: Sequence[ReportView]) -> ThresholdDrift:
    points = tuple(_points(name, views))
    versions = _versions(points)
    trend = trend_of([value for _, value in versions])
    dimension = next(found.axis().dimension for found in views[-1].spec.spec.faults if found.name == fault)
    return ThresholdDrift(
        fit=name,
        fault=fault,
        dimension=dimension,
        points=points,
        versions=versions,
        slope=trend.slope if trend else None,
        lower=trend.lower if trend else None,
        upper=trend.upper if trend else None,
        p=trend.p if trend else None,
        text=_text(versions, points, dimension),
    )


def _points(name: str, views: Sequence[ReportView]) -> Iterator[ThresholdPoint]:
    for view in views:
        for fit in view.fits.fits if view.fits else ():
            if fit.name == name:
                found = fit.threshold
                yield ThresholdPoint(
                    run=view.run,
                    started=view.record.started,
                    version=version_of(view.verdict.subject or view.record.subject),
                    outcome=found.outcome,
                    value=_value(found),
                    lower=found.lower,
                    upper=found.upper,
                )


def _value(found: Threshold) -> float | None:
    """Only a fitted threshold has one; what was bracketed or refused says nothing of a trend."""
    return found.value if found.outcome == "fitted" else None


def version_of(subject: Subject | None) -> str:
    """What was tested, in one line: model, engine with its version, and what tells weights and image apart."""
    if subject is None:
        return "unknown"
    engine = " ".join(filter(None, (subject.engine, subject.engine_version)))
    digests = (subject.weights_digest, subject.image_digest)
    short = [digest.removeprefix("sha256:")[:DIGITS] for digest in digests if digest]
    return ", ".join([subject.model, engine, *short])


def _versions(points: Sequence[ThresholdPoint]) -> tuple[tuple[str, float], ...]:
    found: dict[str, list[float]] = {}
    for point in points:
        if point.value is not None:
            found.setdefault(point.version, []).append(point.value)
    return tuple((version, statistics.fmean(values)) for version, values in found.items())


def _text(versions: Sequence[tuple[str, float]], points: Sequence[ThresholdPoint], dimension: Dimension) -> str:
    left = sum(point.value is None for point in points)
    aside = f"; {left} of {len(points)} runs have no fitted threshold and are left out" if left else ""
    trend = trend_of([value for _, value in versions])
    if trend is None:
        return f"{len(versions)} of {MIN_POINTS} versions needed have a fitted threshold; no trend is tested{aside}"
    lower, slope, upper = (format_value(end, dimension) for end in (trend.lower, trend.slope, trend.upper))
    change = f"{slope} a version ({lower} to {upper}, p = {trend.p:.3g}, {trend.n} versions)"
    words = {"rises": "the threshold rises", "falls": "the threshold falls", "none shown": "no trend is shown"}
    return f"{words[trend.direction]}: {change}{aside}"
