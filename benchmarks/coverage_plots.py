"""The plots of docs/coverage.md: what share of intervals holds the truth, study by study, beside the goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coverage_goals import GOALS
from coverage_study import Study, Tally
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaosgate.report.plots.style import BLUE, FAINT, GREEN, ORANGE, inline_svg, plot_style
from chaosgate.statistics.binomial import clopper_pearson

ROW = 0.27
"""Inches a study."""
NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def plots(studies: Sequence[Study], tallies: Mapping[str, Tally]) -> dict[str, str]:
    """Each file's name and content."""
    return {"coverage-studies.svg": _forest(studies, tallies)}


def _forest(studies: Sequence[Study], tallies: Mapping[str, Tally]) -> str:
    """A row a study, grouped by figure: the share with its own 95 % interval, the goal shaded behind it."""
    with plot_style():
        figure = Figure(figsize=(10.4, 1.2 + ROW * (len(studies) + len({study.figure for study in studies}))))
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        labels: list[tuple[float, str]] = []
        row = 0.0
        for name in dict.fromkeys(study.figure for study in studies):
            row -= 1
            labels.append((row, name.removeprefix("coverage_")))
            for study in (study for study in studies if study.figure == name):
                row -= 1
                _draw(axes, row, study, tallies[study.id])
                labels.append((row, study.name))
        _label(axes, labels, {study.figure.removeprefix("coverage_") for study in studies})
        text = inline_svg(figure, "coverage", "Coverage", "The share of intervals that hold the truth, study by study")
        return text.replace("<svg ", f"<svg {NAMESPACES} ", 1) + "\n"


def _draw(axes: Axes, row: float, study: Study, found: Tally) -> None:
    goal = GOALS[study.figure]
    if study.right:
        axes.fill_betweenx([row - 0.5, row + 0.5], goal.least, goal.most, color=GREEN, alpha=0.16, lw=0)
    if not found.answered:
        axes.text(0.5, row, "refused every time", fontsize=8, va="center")
        return
    low, high = clopper_pearson(found.covered, found.answered)
    colour = BLUE if study.right else ORANGE
    axes.hlines(row, low, high, color=colour, lw=1.5)
    axes.plot([found.coverage], [row], "o", ms=4.5, color=colour, zorder=3)


def _label(axes: Axes, labels: Sequence[tuple[float, str]], figures: set[str]) -> None:
    axes.axvline(0.95, color=FAINT, lw=0.9, ls=(0, (4, 3)))
    axes.set_yticks([row for row, _ in labels], [text for _, text in labels])
    for tick, (_, text) in zip(axes.get_yticklabels(), labels, strict=True):
        tick.set_fontsize(8.2)
        if text in figures:
            tick.set_fontweight("bold")
    axes.set_ylim(min(row for row, _ in labels) - 0.7, -0.3)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("share of intervals that hold the truth; shaded: the goal; orange: another family, no goal")
    axes.grid(axis="x", color="#e3e3e3", linewidth=0.7)
    axes.set_axisbelow(True)
