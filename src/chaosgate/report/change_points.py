"""What the change points of a run say, in sentences, and their plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from chaosgate.estimate.change_points import first_to_tell
from chaosgate.model.change_points import ChangePoint, SliChanges
from chaosgate.report.phases import windows_of
from chaosgate.report.plots.change_points import change_points_plot
from chaosgate.report.view import ReportView
from chaosgate.units import format_value

CORRELATED = 0.3
"""From this correlation of neighbouring slices on, p values are much too small: a warning stands."""


@dataclass(frozen=True)
class ChangeSection:
    """The sentence on who told first, a sentence each change, the plot, and what makes them doubtful."""

    first: str
    changes: tuple[str, ...]
    notes: tuple[str, ...]
    plot: Markup


def change_section(view: ReportView) -> ChangeSection | None:
    """The section on change points; None of a run whose estimates have none, an older one for example."""
    series = () if view.estimates is None else view.estimates.change_points
    if not series:
        return None
    sentence = _first(series)
    return ChangeSection(
        first=sentence,
        changes=tuple(_said(one, change) for one in series for change in one.changes),
        notes=tuple(note for one in series for note in _notes(one)),
        plot=Markup(change_points_plot(series, windows_of(view), sentence)),
    )


def _first(series: Sequence[SliChanges]) -> str:
    first = first_to_tell(series)
    if first is not None:
        return f"{_said(*first)} It was the first to tell."
    if any(one.changes for one in series):
        return "No judged SLI could tell a change before the run ended."
    return "No judged SLI changed its level."


def _said(one: SliChanges, change: ChangePoint) -> str:
    before, after = (format_value(level, one.dimension) for level in (change.before, change.after))
    at = f"at {change.at:.0f} s (95 % interval {change.lower:.0f} to {change.upper:.0f} s)"
    return f"{one.sli} changed from {before} to {after} {at}{_told(change)}."


def _told(change: ChangePoint) -> str:
    if change.told is None:
        return ", which only the whole run tells"
    if change.fault is None or change.detected_after is None:
        return f" and told it at {change.told:.0f} s"
    return f" and told it at {change.told:.0f} s, {change.detected_after:.1f} s after a dose of {change.fault} came on"


def _notes(one: SliChanges) -> list[str]:
    if one.reason is not None:
        return [f"{one.sli}: {one.reason}"]
    if one.autocorrelation is not None and one.autocorrelation >= CORRELATED:
        return [
            f"{one.sli}: neighbouring slices are alike ({one.autocorrelation:.2f}), as doses that come and go make "
            "them, or the target; where it is the target, a change may be a false alarm"
        ]
    return []
