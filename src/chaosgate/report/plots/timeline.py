"""The timeline plot: what a client saw each second of a run, over what was injected when."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from chaosgate.model.result import GaugeSeries, SeriesPoint
from chaosgate.report.phases import Mark, Stretch, WindowRow
from chaosgate.report.plots.gauges import draw_gauge
from chaosgate.report.plots.style import (
    BLACK,
    BLUE,
    FAINT,
    FAULT_COLOURS,
    GREEN,
    INK,
    VERMILLION,
    axis_unit,
    inline_svg,
    plot_style,
    quiet,
)
from chaosgate.units import Dimension, format_value

GAP = 1.5
"""Seconds between two points of the series from which on the line is broken; points lie one second apart."""
LANE_INCHES = 0.46
GAUGE_INCHES = 0.8
NAME_INCHES = 0.3
"""What the name above a gauge's panel takes: room that the other panels would give."""
WIDTH_INCHES = 12.0


@dataclass(frozen=True)
class TimelineData:
    """What the plot shows: the series, the windows, the stretches around them and marks; `axes` by fault name."""

    series: Sequence[SeriesPoint]
    windows: Sequence[WindowRow]
    stretches: Sequence[Stretch]
    marks: Sequence[Mark]
    axes: dict[str, Dimension]
    gauges: Sequence[GaugeSeries] = ()
    """A panel each, below what the client saw."""


def timeline_plot(data: TimelineData, description: str) -> str:
    """The plot as an `<svg>`; the empty text where the run has no series."""
    if not data.series:
        return ""
    faults = [name for name in data.axes if any(row.fault == name for row in data.windows)]
    lanes = LANE_INCHES * max(1, len(faults))
    heights = [lanes, 2.2, 1.1, 1.1, *(GAUGE_INCHES for _ in data.gauges)]
    with plot_style():
        margins = 1.0 + NAME_INCHES * len(data.gauges)
        figure = Figure(figsize=(WIDTH_INCHES, sum(heights) + margins), layout="constrained")
        panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
        lane, ttft, errors, rate, *gauges = panels
        _draw_lane(lane, data, faults)
        _draw_ttft(ttft, data.series)
        _draw_errors(errors, data.series)
        _draw_rate(rate, data.series)
        for axes, gauge in zip(gauges, data.gauges, strict=True):
            draw_gauge(axes, gauge)
        for axes in panels[1:]:
            _shade(axes, data, faults)
        _draw_marks(panels, data.marks)
        panels[-1].set_xlabel("time on the gateway's clock [s]")
        lane.set_xlim(*_time_range(data))
        figure.align_ylabels((lane, ttft, errors, rate))
        return inline_svg(figure, "timeline", "Timeline of the run", description)


def broken_line(series: Sequence[SeriesPoint], values: Sequence[float | None]) -> tuple[list[float], list[float]]:
    """Times and values for a line that is interrupted where a second is missing or has no value.

    A point stands in the middle of the second it sums up.
    """
    times: list[float] = []
    heights: list[float] = []
    before: float | None = None
    for point, value in zip(series, values, strict=True):
        if before is not None and point.at - before > GAP:
            times.append(before + 0.5)
            heights.append(math.nan)
        times.append(point.at + 0.5)
        heights.append(math.nan if value is None else value)
        before = point.at
    return times, heights


def dose_strength(dose: float, doses: Iterable[float]) -> float:
    """How strongly a dose is shaded: 0 for a control, then evenly from 0.25 to 1 by rank among `doses`."""
    ranks = sorted({known for known in doses if known > 0})
    if dose <= 0:
        return 0.0
    return 0.25 + 0.75 * (ranks.index(dose) + 1) / len(ranks)


def _time_range(data: TimelineData) -> tuple[float, float]:
    starts = [data.series[0].at, *(stretch.start for stretch in data.stretches)]
    ends = [data.series[-1].at + 1, *(row.off for row in data.windows if row.off is not None)]
    return min(starts), max(ends)


def _draw_lane(axes: Axes, data: TimelineData, faults: Sequence[str]) -> None:
    """One lane a fault: its windows as boxes, each with its dose, controls hatched."""
    axes.set_ylim(max(1, len(faults)), 0)
    axes.set_yticks([index + 0.5 for index in range(len(faults))], [_lane_label(name, data) for name in faults])
    axes.tick_params(length=0, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    start, end = _time_range(data)
    scale = (WIDTH_INCHES - 1) * 72 / (end - start)
    for row in data.windows:
        _draw_box(axes, row, faults, data, scale)
    for stretch in data.stretches:
        _draw_stretch(axes, stretch, max(1, len(faults)), scale)


def _lane_label(fault: str, data: TimelineData) -> str:
    """The fault over the range of its doses, which also reads where the boxes are too narrow for theirs."""
    doses = [row.dose for row in data.windows if row.fault == fault and row.dose > 0]
    if not doses:
        return fault
    low, high = (format_value(dose, data.axes[fault]) for dose in (min(doses), max(doses)))
    return f"{fault}\n{low}" if low == high else f"{fault}\n{low} to {high}"


def _draw_box(axes: Axes, row: WindowRow, faults: Sequence[str], data: TimelineData, points_per_second: float) -> None:
    lane, end = faults.index(row.fault), _end(row, data)
    colour = FAULT_COLOURS[lane % len(FAULT_COLOURS)]
    control = row.dose <= 0
    strength = _strength(row, data.windows)
    face = "white" if control else (colour, 0.15 + 0.85 * strength)
    box = Rectangle((row.on, lane + 0.08), end - row.on, 0.84, fc=face, ec=FAINT, lw=0.6)
    box.set_hatch("////" if control else "")
    axes.add_patch(box)
    room = (end - row.on) * points_per_second
    if room < 9 or control:
        return
    text = format_value(row.dose, data.axes[row.fault])
    upright = 90 if room < 5.5 * len(text) else 0
    axes.text((row.on + end) / 2, lane + 0.5, text, ha="center", va="center", fontsize=7.5, rotation=upright)


def _draw_stretch(axes: Axes, stretch: Stretch, lanes: int, points_per_second: float) -> None:
    axes.add_patch(Rectangle((stretch.start, 0.08), stretch.end - stretch.start, lanes - 0.16, fc="#ececec", lw=0))
    middle, room = (stretch.start + stretch.end) / 2, (stretch.end - stretch.start) * points_per_second
    upright = 90 if room < 5.5 * len(stretch.label) else 0
    axes.text(middle, lanes / 2, stretch.label, ha="center", va="center", fontsize=7.5, rotation=upright)


def _strength(row: WindowRow, windows: Sequence[WindowRow]) -> float:
    return dose_strength(row.dose, (other.dose for other in windows if other.fault == row.fault))


def _end(row: WindowRow, data: TimelineData) -> float:
    return data.series[-1].at + 1 if row.off is None else row.off


def _shade(axes: Axes, data: TimelineData, faults: Sequence[str]) -> None:
    for row in data.windows:
        colour = FAULT_COLOURS[faults.index(row.fault) % len(FAULT_COLOURS)]
        strength = _strength(row, data.windows)
        if strength > 0:
            axes.axvspan(row.on, _end(row, data), color=colour, alpha=0.45 * strength, lw=0, zorder=0)
    for stretch in data.stretches:
        axes.axvspan(stretch.start, stretch.end, color="#ececec", alpha=0.6, lw=0, zorder=0)


def _draw_ttft(axes: Axes, series: Sequence[SeriesPoint]) -> None:
    seen = [point.ttft_p99 for point in series if point.ttft_p99 is not None]
    factor, unit = axis_unit("duration", max(seen, default=0.0))
    for name, colour, values in (
        ("p99", VERMILLION, [point.ttft_p99 for point in series]),
        ("p50", BLUE, [point.ttft_p50 for point in series]),
    ):
        scaled = [None if value is None else value * factor for value in values]
        axes.plot(*broken_line(series, scaled), color=colour, lw=1.6, label=name)
    axes.set_ylabel(f"time to first\ntoken [{unit}]")
    axes.set_ylim(bottom=0)
    quiet(axes)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0)


def _draw_errors(axes: Axes, series: Sequence[SeriesPoint]) -> None:
    shares = [100 * point.errors / point.requests if point.requests else None for point in series]
    axes.plot(*broken_line(series, shares), color=BLACK, lw=1.6, clip_on=False)
    axes.set_ylabel("errors [%]")
    axes.set_ylim(0, max([5.0, *(share for share in shares if share is not None)]) * 1.05)
    quiet(axes)


def _draw_rate(axes: Axes, series: Sequence[SeriesPoint]) -> None:
    axes.plot(*broken_line(series, [float(point.requests) for point in series]), color=GREEN, lw=1.6)
    axes.set_ylabel("requests\n[1/s]")
    axes.set_ylim(bottom=0)
    quiet(axes)


def _draw_marks(panels: Sequence[Axes], marks: Sequence[Mark]) -> None:
    for mark in marks:
        for axes in panels:
            axes.axvline(mark.at, color=INK, lw=1.3, ls=(0, (2, 2)))
        panels[0].annotate(
            mark.label, (mark.at, 0), xytext=(3, 4), textcoords="offset points", fontsize=8.5, annotation_clip=False
        )
