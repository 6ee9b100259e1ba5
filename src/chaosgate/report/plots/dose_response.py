"""The dose-response plot of a fit: observed shares with their intervals, the curve, and the threshold shaded."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import interp

from chaosgate.model.fit import BreakResponse, CurvePoint, Fit, Response, Threshold
from chaosgate.model.result import FitResult
from chaosgate.report.plots.style import BLACK, BLUE, INK, ORANGE, axis_unit, inline_svg, labelled, plot_style, quiet
from chaosgate.statistics.binomial import clopper_pearson
from chaosgate.units import format_share, format_value


def dose_response_plot(fit: Fit, result: FitResult, parameter: str, description: str) -> str:
    """The plot as an `<svg>`; the empty text where nothing was observed."""
    threshold = result.threshold
    if not threshold.points:
        return ""
    factor, unit = axis_unit(result.dimension, max(point.dose for point in threshold.points))
    with plot_style():
        figure = Figure(figsize=(9.6, 3.7), layout="constrained")
        axes = figure.add_subplot()
        _shade(axes, threshold, factor, _range_label(result))
        _draw_points(axes, threshold, factor)
        _draw_curve(axes, threshold.curve, factor)
        _draw_target(axes, fit, threshold, factor)
        _label(axes, fit, labelled(f"{parameter} of {fit.fault}", unit))
        return inline_svg(figure, f"fit-{fit.name}", f"Dose-response of {fit.name}", description)


def _range_label(result: FitResult) -> str:
    if result.threshold.outcome == "bracketed":
        return "threshold lies in here"
    return f"threshold {format_value(result.threshold.value, result.dimension)}, 95 % interval"


def _shade(axes: Axes, threshold: Threshold, factor: float, label: str) -> None:
    if threshold.outcome == "refused" or threshold.lower is None or threshold.upper is None:
        return
    axes.axvspan(threshold.lower * factor, threshold.upper * factor, color=ORANGE, alpha=0.28, lw=0, label=label)


def _draw_points(axes: Axes, threshold: Threshold, factor: float) -> None:
    """Shares with exact intervals; requests of a window go together, so a fit's dispersion shrinks their number."""
    dispersion = max(1.0, threshold.goodness.get("dispersion", 1.0))
    seen = [point for point in threshold.points if point.n > 0]
    ends = [clopper_pearson(point.share * point.n / dispersion, point.n / dispersion) for point in seen]
    below = [100 * (point.share - low) for point, (low, _) in zip(seen, ends, strict=True)]
    above = [100 * (high - point.share) for point, (_, high) in zip(seen, ends, strict=True)]
    axes.errorbar(
        [point.dose * factor for point in seen],
        [100 * point.share for point in seen],
        yerr=[[max(0.0, length) for length in below], [max(0.0, length) for length in above]],
        fmt="o",
        ms=5.5,
        color=BLACK,
        elinewidth=1.2,
        capsize=3,
        label="observed, 95 % interval",
        zorder=3,
    )


def _draw_curve(axes: Axes, curve: Sequence[CurvePoint], factor: float) -> None:
    if curve:
        doses = [point.dose * factor for point in curve]
        axes.plot(doses, [100 * point.share for point in curve], color=BLUE, lw=2, label="fitted curve")


def _draw_target(axes: Axes, fit: Fit, threshold: Threshold, factor: float) -> None:
    """The threshold on its curve, and the share looked for, where one is."""
    response = fit.response
    if isinstance(response, Response):
        label = f"{format_share(response.share)} of requests"
        axes.axhline(100 * response.share, color=INK, lw=0.9, ls=(0, (4, 3)), label=label)
    if threshold.outcome == "fitted" and threshold.value is not None and threshold.curve:
        doses, shares = zip(*((point.dose, 100 * point.share) for point in threshold.curve), strict=True)
        share = 100 * response.share if isinstance(response, Response) else interp(threshold.value, doses, shares)
        axes.plot([threshold.value * factor], [share], "D", color=ORANGE, mec=BLACK, ms=7, zorder=4)


def _label(axes: Axes, fit: Fit, dose: str) -> None:
    axes.set_xlabel(dose)
    bound = f" {fit.response.bound}" if isinstance(fit.response, BreakResponse) else ""
    axes.set_ylabel(f"requests that break\n{fit.response.sli}{bound} [%]")
    axes.set_ylim(-3, 103)
    axes.margins(x=0.04)
    quiet(axes)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
