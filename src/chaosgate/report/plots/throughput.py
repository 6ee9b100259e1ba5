"""The throughput plot of a fit of rates: observed rates by load, the law, and the peak with its interval."""

from __future__ import annotations

from matplotlib.figure import Figure

from chaosgate.model.fit import Fit
from chaosgate.model.result import FitResult
from chaosgate.report.plots.style import BLACK, BLUE, ORANGE, axis_unit, inline_svg, labelled, plot_style, quiet
from chaosgate.units import format_value


def throughput_plot(fit: Fit, result: FitResult, parameter: str, description: str) -> str:
    """The plot as an `<svg>`; the empty text where no rate was observed."""
    found = result.threshold
    if not found.rates:
        return ""
    factor, unit = axis_unit(result.dimension, max(point.dose for point in found.rates))
    with plot_style():
        figure = Figure(figsize=(9.6, 3.7), layout="constrained")
        axes = figure.add_subplot()
        if found.outcome == "fitted" and found.value is not None:
            ends = [found.rates[0].dose if found.lower is None else found.lower]
            ends.append(found.rates[-1].dose if found.upper is None else found.upper)
            label = f"peak at {format_value(found.value, result.dimension)}, 95 % interval"
            axes.axvspan(ends[0] * factor, ends[1] * factor, color=ORANGE, alpha=0.28, lw=0, label=label)
        doses = [point.dose * factor for point in found.rates]
        axes.plot(doses, [point.rate for point in found.rates], "o", ms=5.5, color=BLACK, label="observed", zorder=3)
        curve = [point.dose * factor for point in found.rate_curve]
        if curve:
            law = [point.rate for point in found.rate_curve]
            axes.plot(curve, law, color=BLUE, lw=2, label="Universal Scalability Law")
        axes.set_xlabel(labelled(f"{parameter} of {fit.fault}", unit))
        axes.set_ylabel(f"{fit.response.sli} [1/s]")
        axes.set_ylim(bottom=0)
        quiet(axes)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return inline_svg(figure, f"fit-{fit.name}", f"Throughput of {fit.name}", description)
