"""One look for every plot, and matplotlib figures as SVG that can stand in a page: deterministic, labelled, plain."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaosgate.units import Dimension

# The palette of Okabe and Ito (https://jfly.uni-koeln.de/color/): told apart with every common colour blindness.
BLACK, ORANGE, SKY_BLUE, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
INK, FAINT = "#1a1a1a", "#8a8a8a"
FAULT_COLOURS = (ORANGE, PURPLE, SKY_BLUE, YELLOW)

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "chaosgate",
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "text.parse_math": False,
}


_WRITTEN = re.compile(r'.*?<svg[^>]*(viewBox="[^"]+")[^>]*>\s*<metadata>.*?</metadata>(.*)', re.DOTALL)


@contextmanager
def plot_style() -> Iterator[None]:
    """matplotlib's settings for a plot of the report, put back afterwards."""
    with matplotlib.rc_context(_STYLE):
        yield


def inline_svg(figure: Figure, name: str, title: str, description: str) -> str:
    """The figure as an `<svg>` element named by `title` and `description`. Equal figures give equal text.

    `name` keeps the ids of several plots in one page apart.
    """
    _settle(figure)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    whole = _WRITTEN.fullmatch(buffer.getvalue())
    if whole is None:
        raise ValueError("matplotlib wrote an SVG without a viewBox or metadata; install the locked version")
    body = re.sub(r'\bid="', f'id="{name}-', whole[2])
    body = body.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    # The page's own font: the reader's machine need not have the one the plot was measured with.
    body = body.replace("'DejaVu Sans'", "system-ui, sans-serif")
    label = escape(f"{title}. {description}")
    return f'<svg role="img" aria-label="{label}" {whole[1]}>\n<title>{escape(title)}</title>{body.rstrip()}'


def _settle(figure: Figure) -> None:
    """Lay the figure out and round where its axes stand.

    The layout solver's last digits differ from run to run, and matplotlib makes the ids of clip paths from them.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = (round(part, 4) for part in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))


def quiet(axes: Axes) -> None:
    """Take the weight off an axes: short ticks and faint horizontal lines behind the data."""
    axes.tick_params(length=3, width=0.8)
    axes.grid(axis="y", color="#e3e3e3", linewidth=0.7)
    axes.set_axisbelow(True)


def axis_unit(dimension: Dimension, largest: float) -> tuple[float, str]:
    """Factor and unit that make an axis easy to read: `(1000, "ms")` for durations that stay below two seconds."""
    if dimension == "duration":
        return (1e3, "ms") if largest < 2 else (1.0, "s")
    return {"share": (100.0, "%"), "rate": (1.0, "1/s")}.get(dimension, (1.0, ""))


def labelled(name: str, unit: str) -> str:
    """`delay [ms]`; the name alone where there is no unit."""
    return f"{name} [{unit}]" if unit else name
