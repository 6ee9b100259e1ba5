"""The throughput plot: observed rates, the law and its peak."""

from __future__ import annotations

from report_page import Page

from chaosgate.fits.usl import Usl
from chaosgate.model.fit import FitResponse, RatePoint, Threshold
from chaosgate.model.result import FitResult
from chaosgate.report.plots.throughput import throughput_plot

FIT = Usl(name="peak", kind="usl", fault="more-users", response=FitResponse(sli="request-rate"))
RATES = tuple(RatePoint(dose=load, rate=rate, n=40) for load, rate in ((1.0, 10.0), (8.0, 42.0), (32.0, 25.0)))
FOUND = Threshold(
    outcome="fitted", value=11, lower=9, upper=14, n=120, windows=12, rates=RATES, rate_curve=RATES, goodness={}
)


def plot(threshold: Threshold) -> str:
    result = FitResult(name="peak", kind="usl", fault="more-users", dimension="count", threshold=threshold)
    return throughput_plot(FIT, result, "users", "what was found")


def test_a_fitted_law_is_drawn_with_its_peak() -> None:
    text = Page(plot(FOUND)).text
    for piece in (
        "users of more-users",
        "request-rate [1/s]",
        "Universal Scalability Law",
        "peak at 11, 95 % interval",
    ):
        assert piece in text


def test_a_refused_one_shows_what_was_observed_alone() -> None:
    refused = FOUND.model_copy(update={"outcome": "refused", "value": None, "rate_curve": ()})
    text = Page(plot(refused)).text
    assert "observed" in text
    assert "Law" not in text
    assert "peak at" not in text


def test_no_rates_make_no_plot() -> None:
    assert plot(FOUND.model_copy(update={"rates": (), "rate_curve": ()})) == ""
