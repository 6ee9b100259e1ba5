"""The plot of gauges: what engine, machine and Prometheus showed, over what was injected when."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaosgate.model.gauges import LARGEST_ORDER, fragmentation
from chaosgate.model.result import GaugeSeries
from chaosgate.report.phases import WindowRow
from chaosgate.report.plots.style import BLUE, VERMILLION, inline_svg, plot_style, quiet

GAP = 3.0
"""Seconds without a reading from which on a line is broken, where readings mostly come more often than that."""
PANEL_INCHES = 1.0
WIDTH_INCHES = 12.0
LEVELS = (5.0, 9.0)
"""Below the first order memory is heavily fragmented, from the second on lightly."""


def gauges_plot(series: Sequence[GaugeSeries], windows: Sequence[WindowRow]) -> str:
    """The plot as an `<svg>` with a panel for each gauge; the empty text where there are none."""
    if not series:
        return ""
    with plot_style():
        figure = Figure(figsize=(WIDTH_INCHES, PANEL_INCHES * len(series) + 0.6), layout="constrained")
        panels = figure.subplots(len(series), 1, sharex=True, squeeze=False)[:, 0]
        for axes, gauge in zip(panels, series, strict=True):
            _draw(axes, gauge, windows)
        panels[-1].set_xlabel("time on the gateway's clock [s]")
        names = ", ".join(gauge.name for gauge in series)
        return inline_svg(figure, "gauges", "Gauges of the run", f"{names}; windows at doses above 0 are shaded")


def _draw(axes: Axes, gauge: GaugeSeries, windows: Sequence[WindowRow]) -> None:
    axes.plot(*broken(gauge), color=BLUE, lw=1.6, drawstyle="steps-post", clip_on=False)
    axes.set_title(described(gauge), loc="left", fontsize=9.0)
    axes.set_ylim(min(0.0, *gauge.values), max(1.0, *gauge.values) * 1.1)
    for row in windows:
        if row.dose > 0 and row.off is not None:
            axes.axvspan(row.on, row.off, color="#ececec", lw=0, zorder=0)
    for level in LEVELS if gauge.name == LARGEST_ORDER else ():
        axes.axhline(level, color=VERMILLION, lw=0.8, ls=(0, (2, 2)))
    quiet(axes)


def described(gauge: GaugeSeries) -> str:
    """The gauge's name; of free memory also how fragmented it was at its worst."""
    if gauge.name != LARGEST_ORDER:
        return gauge.name
    worst = min(gauge.values)
    return f"{gauge.name} (at worst {worst:g}: {fragmentation(worst)} fragmentation)"


def broken(gauge: GaugeSeries) -> tuple[list[float], list[float]]:
    """Times and values for a line that is interrupted where readings are missing."""
    gaps = sorted(later - earlier for earlier, later in zip(gauge.at, gauge.at[1:], strict=False))
    usual = gaps[len(gaps) // 2] if gaps else 0.0
    times: list[float] = []
    values: list[float] = []
    for at, value in zip(gauge.at, gauge.values, strict=True):
        if times and at - times[-1] > max(GAP, 2 * usual):
            times.append(times[-1] + usual)
            values.append(math.nan)
        times.append(at)
        values.append(value)
    return times, values
