"""Thresholds over the runs of a spec: each with its interval, and the versions told apart."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaosgate.report.drift import ThresholdDrift
from chaosgate.report.plots.style import (
    BLACK,
    BLUE,
    FAULT_COLOURS,
    GREEN,
    INK,
    VERMILLION,
    axis_unit,
    inline_svg,
    labelled,
    plot_style,
    quiet,
)

COLOURS = (BLUE, VERMILLION, GREEN, *FAULT_COLOURS, BLACK)
NAMED = len(COLOURS)
"""Versions that the legend can tell apart; more are numbered below their runs alone."""
SIZE = 960, 390
"""Points of a plot in a document of its own."""
NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def drift_plot(found: ThresholdDrift) -> str:
    """The plot as an `<svg>`; the empty text where no run has a threshold with an interval."""
    if not any(point.lower is not None or point.upper is not None for point in found.points):
        return ""
    ends = [end for point in found.points for end in (point.value, point.lower, point.upper) if end is not None]
    factor, unit = axis_unit(found.dimension, max(ends))
    with plot_style():
        figure = Figure(figsize=(9.6, 3.9), layout="constrained")
        axes = figure.add_subplot()
        _draw_points(axes, found, factor)
        _draw_versions(axes, found, factor)
        _label(axes, found, labelled(f"threshold {found.fit} of {found.fault}", unit))
        return inline_svg(figure, f"drift-{found.fit}", f"Drift of {found.fit}", found.text)


def drift_page(found: Sequence[ThresholdDrift]) -> str:
    """The plots one below the other as one SVG document; a sentence where there is none."""
    plots = [plot for each in found if (plot := drift_plot(each))]
    width, height = SIZE
    size = f'width="{width}" height="{height * max(1, len(plots))}"'
    places = [plot.replace("<svg", f'<svg y="{height * row}" height="{height}"', 1) for row, plot in enumerate(plots)]
    body = places or ['<text x="8" y="24">no run has a threshold with an interval</text>']
    return "\n".join([f"<svg {NAMESPACES} {size}>", *body, "</svg>"]) + "\n"


def _draw_points(axes: Axes, found: ThresholdDrift, factor: float) -> None:
    """Each run at its place in time; a bracket is an interval without a value."""
    colours = _colours(found)
    for place, point in enumerate(found.points):
        colour = colours[point.version]
        if point.lower is not None and point.upper is not None:
            axes.vlines(place, point.lower * factor, point.upper * factor, color=colour, lw=1.6)
        if point.value is not None:
            axes.plot([place], [point.value * factor], "o", color=colour, ms=6, zorder=3)


def _colours(found: ThresholdDrift) -> dict[str, str]:
    versions = dict.fromkeys(point.version for point in found.points)
    return {version: COLOURS[min(index, NAMED - 1)] for index, version in enumerate(versions)}


def _draw_versions(axes: Axes, found: ThresholdDrift, factor: float) -> None:
    """The mean of each version over its runs."""
    colours = _colours(found)
    for version, mean in found.versions:
        places = [place for place, point in enumerate(found.points) if point.version == version]
        first, last = min(places) - 0.3, max(places) + 0.3
        axes.hlines(mean * factor, first, last, color=colours[version], lw=1.0, ls=(0, (4, 3)), label=version)


def _label(axes: Axes, found: ThresholdDrift, name: str) -> None:
    axes.set_xticks(range(len(found.points)), [point.started[:10] for point in found.points], rotation=30, ha="right")
    axes.set_ylabel(name)
    axes.set_title(found.text, fontsize=9.5, color=INK, loc="left", wrap=True)
    axes.margins(x=0.04, y=0.15)
    quiet(axes)
    if found.versions and len(found.versions) <= NAMED:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
