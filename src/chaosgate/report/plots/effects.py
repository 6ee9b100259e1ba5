"""Effect sizes with their intervals: how much of an SLI's distribution a fault moved, at each dose and after it."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaosgate.model.comparison import Comparison
from chaosgate.report.plots.style import BLACK, BLUE, GREEN, INK, inline_svg, plot_style

ROW = 0.29
"""Height of a row, inches."""


def effects_plot(fault: str, found: Sequence[Comparison], description: str) -> str:
    """Cliff's delta of each comparison that has one, as an `<svg>`; the empty text where none has."""
    known = [each for each in found if each.effect is not None]
    if not known:
        return ""
    with plot_style():
        figure = Figure(figsize=(9.6, 1.1 + ROW * len(known)), layout="constrained")
        axes = figure.add_subplot()
        for row, each in enumerate(known):
            _interval(axes, row, each)
        axes.axvline(0, color=INK, lw=0.9, ls=(0, (4, 3)))
        axes.set_yticks(range(len(known)), [f"{each.sli}, {each.at}" for each in known])
        axes.set_xlim(-1.05, 1.05)
        axes.set_ylim(len(known) - 0.4, -0.6)
        axes.set_xlabel("Cliff's delta: -1 all values smaller than before, 1 all larger; 95 % intervals")
        axes.grid(axis="x", color="#e3e3e3", linewidth=0.7)
        axes.set_axisbelow(True)
        return inline_svg(figure, f"effects-{fault}", f"Effect sizes of {fault}", description)


def _interval(axes: Axes, row: int, each: Comparison) -> None:
    effect = each.effect
    if effect is None or effect.value is None or effect.lower is None or effect.upper is None:
        return
    colour = GREEN if each.place == "recovery" else BLUE
    axes.plot([effect.lower, effect.upper], [row, row], color=colour, lw=2.2, solid_capstyle="butt")
    axes.plot([effect.value], [row], "o" if each.place != "recovery" else "D", color=BLACK, ms=5)
