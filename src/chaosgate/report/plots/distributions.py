"""Distribution functions before, during and after a fault, an SLI a panel."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaosgate.model.comparison import Distribution, Stage
from chaosgate.report.plots.style import BLUE, GREEN, VERMILLION, axis_unit, inline_svg, labelled, plot_style, quiet

_LINES: dict[Stage, tuple[str, str, float]] = {
    "before": (BLUE, "-", 2.4),
    "during": (VERMILLION, "-", 1.8),
    "after": (GREEN, "--", 1.6),
}
"""Colour, dash and width of each stage: they are told apart without colours, too."""


def distributions_plot(fault: str, found: Sequence[Distribution], description: str) -> str:
    """The distribution functions of every SLI in `found`, all of one fault, as an `<svg>`; the empty text of none."""
    slis = list(dict.fromkeys(each.sli for each in found))
    if not slis:
        return ""
    with plot_style():
        figure = Figure(figsize=(9.6, 3.3 * ((len(slis) + 1) // 2)), layout="constrained")
        panels = figure.subplots((len(slis) + 1) // 2, min(len(slis), 2), squeeze=False).flatten()
        for axes, sli in zip(panels, slis, strict=False):
            _panel(axes, [each for each in found if each.sli == sli])
        for axes in panels[len(slis) :]:
            axes.set_visible(False)
        return inline_svg(figure, f"distribution-{fault}", f"Before, during and after {fault}", description)


def _panel(axes: Axes, found: Sequence[Distribution]) -> None:
    largest = max((value for each in found for value in each.quantiles if value is not None), default=0.0)
    factor, unit = axis_unit(found[0].dimension, largest)
    for each in found:
        colour, dash, width = _LINES[each.stage]
        # What is infinite lies to the right of every axis: the line ends below 100 %.
        known = [value for value in each.quantiles if value is not None]
        shares = [100 * index / (len(each.quantiles) - 1) for index in range(len(known))]
        axes.step(
            [value * factor for value in known],
            shares,
            where="post",
            color=colour,
            ls=dash,
            lw=width,
            label=f"{each.stage}, n = {each.n}",
        )
    axes.set_xlabel(labelled(found[0].sli, unit))
    axes.set_ylabel("requests at or below [%]")
    axes.set_ylim(-2, 102)
    quiet(axes)
    axes.legend(loc="lower right")
