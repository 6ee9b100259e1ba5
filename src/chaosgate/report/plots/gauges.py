"""The panels of gauges in the timeline: what engine, machine and Prometheus showed."""

from __future__ import annotations

import math

from matplotlib.axes import Axes

from chaosgate.model.gauges import LARGEST_ORDER, fragmentation
from chaosgate.model.result import GaugeSeries
from chaosgate.report.plots.style import BLUE, VERMILLION, quiet

GAP = 3.0
"""Seconds without a reading from which on a line is broken, where readings mostly come more often than that."""
LEVELS = (5.0, 9.0)
"""Below the first order memory is heavily fragmented, from the second on lightly."""


def draw_gauge(axes: Axes, gauge: GaugeSeries) -> None:
    """The gauge as steps, under its name; of free memory also the levels that are named."""
    axes.plot(*broken(gauge), color=BLUE, lw=1.6, drawstyle="steps-post", clip_on=False)
    axes.set_title(described(gauge), loc="left", fontsize=9.0)
    axes.set_ylim(min(0.0, *gauge.values), max(1.0, *gauge.values) * 1.1)
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
