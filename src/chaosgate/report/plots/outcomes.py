"""What became of the requests that a fault touched, a bar a dose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from chaosgate.model.comparison import OutcomeRow, RequestOutcome
from chaosgate.report.plots.style import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY_BLUE,
    VERMILLION,
    YELLOW,
    inline_svg,
    plot_style,
    quiet,
)

_FILLS: Mapping[RequestOutcome, tuple[str, str]] = {
    "masked": (GREEN, ""),
    "unscored": (SKY_BLUE, ""),
    "altered": (YELLOW, ""),
    "fluent-wrong": (ORANGE, "//"),
    "garbled": (PURPLE, "xx"),
    "detected": (BLUE, ""),
    "hung": (VERMILLION, "\\\\"),
    "crashed": (BLACK, ""),
}
"""Colour and hatch of each outcome."""


def outcomes_plot(
    fault: str, rows: Sequence[OutcomeRow], labels: Sequence[str], words: Mapping[RequestOutcome, str], description: str
) -> str:
    """Stacked shares of the outcomes of `rows`, one a label, as an `<svg>`; the empty text without rows."""
    if not rows:
        return ""
    with plot_style():
        figure = Figure(figsize=(9.6, 3.5), layout="constrained")
        axes = figure.add_subplot()
        floor = [0.0] * len(rows)
        for outcome, (colour, hatch) in _FILLS.items():
            heights = [_share(row, outcome) for row in rows]
            if any(heights):
                style: dict[str, Any] = {"color": colour, "edgecolor": "white", "hatch": hatch, "lw": 0.6}
                axes.bar(range(len(rows)), heights, 0.62, bottom=floor, label=words[outcome], **style)
            floor = [low + high for low, high in zip(floor, heights, strict=True)]
        names = [f"{label}\nn = {row.n}" for label, row in zip(labels, rows, strict=True)]
        axes.set_xticks(range(len(rows)), names)
        axes.set_ylabel("requests [%]")
        axes.set_ylim(0, 100)
        quiet(axes)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return inline_svg(figure, f"outcomes-{fault}", f"Outcomes of {fault} by dose", description)


def _share(row: OutcomeRow, outcome: RequestOutcome) -> float:
    return sum(100.0 * each.count / row.n for each in row.counts if each.outcome == outcome)
