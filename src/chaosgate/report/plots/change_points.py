"""The levels of the judged SLIs over a run: each slice, the levels between changes, and when these could be told."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaosgate.model.change_points import SliChanges
from chaosgate.report.phases import WindowRow
from chaosgate.report.plots.style import (
    BLUE,
    FAINT,
    FAULT_COLOURS,
    VERMILLION,
    axis_unit,
    inline_svg,
    labelled,
    plot_style,
    quiet,
)
from chaosgate.report.plots.timeline import WIDTH_INCHES, dose_strength

PANEL_INCHES = 1.5


def change_points_plot(series: Sequence[SliChanges], windows: Sequence[WindowRow], description: str) -> str:
    """The plot as an `<svg>`, a panel an SLI; the empty text where no SLI has numbers."""
    shown = [one for one in series if one.at]
    if not shown:
        return ""
    with plot_style():
        figure = Figure(figsize=(WIDTH_INCHES, 0.8 + PANEL_INCHES * len(shown)), layout="constrained")
        panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for axes, one in zip(panels, shown, strict=True):
            _draw_doses(axes, windows)
            _draw_levels(axes, one)
        panels[-1].set_xlabel("time on the gateway's clock [s]")
        # A panel without a change has no line for one: the legend is that of all.
        known = dict(pair for axes in panels for pair in zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        figure.legend(known.values(), known.keys(), loc="outside upper right", ncols=len(known))
        figure.align_ylabels(panels)
        return inline_svg(figure, "change-points", "Change points", description)


def levels(one: SliChanges) -> list[tuple[float, float, float]]:
    """From when, until when, and the median there, of each level; a level without any finite slice is left out."""
    ends = [one.at[0], *(change.at for change in one.changes), one.at[-1] + one.slice]
    found = []
    for start, end in pairwise(ends):
        values = [v for at, v in zip(one.at, one.values, strict=True) if start <= at < end and v is not None]
        if values:
            found.append((start, end, median(values)))
    return found


def _draw_doses(axes: Axes, windows: Sequence[WindowRow]) -> None:
    faults = list(dict.fromkeys(row.fault for row in windows))
    for row in windows:
        strength = dose_strength(row.dose, (other.dose for other in windows if other.fault == row.fault))
        if strength > 0 and row.off is not None:
            colour = FAULT_COLOURS[faults.index(row.fault) % len(FAULT_COLOURS)]
            axes.axvspan(row.on, row.off, color=colour, alpha=0.3 * strength, lw=0, zorder=0)


def _draw_levels(axes: Axes, one: SliChanges) -> None:
    factor, unit = axis_unit(one.dimension, max((value for value in one.values if value is not None), default=0.0))
    middles = [at + one.slice / 2 for at in one.at]
    heights = [float("nan") if value is None else value * factor for value in one.values]
    axes.plot(middles, heights, "o", ms=3, color=FAINT, label=f"slice of {one.slice:g} s")
    for index, (start, end, level) in enumerate(levels(one)):
        axes.plot([start, end], [level * factor] * 2, color=BLUE, lw=2, label="level (median)" if not index else None)
    for index, change in enumerate(one.changes):
        label = "change, 95 % interval" if not index else None
        axes.axvspan(change.lower, change.upper, color=VERMILLION, alpha=0.25, lw=0)
        axes.axvline(change.at, color=VERMILLION, lw=1.4, label=label)
        if change.told is not None:
            axes.axvline(change.told, color=VERMILLION, lw=1, ls=(0, (2, 2)), label="told" if not index else None)
    axes.set_ylabel(labelled(one.sli, unit), fontsize=9)
    if all(not value < 0 for value in heights):
        axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    quiet(axes)
