"""The dose-response plot: labels with units, the interval shaded, a curve only where one was fitted."""

from __future__ import annotations

import report_views as views
from report_page import Page

from chaosgate.model.fit import CurvePoint, Threshold
from chaosgate.report.plots.dose_response import dose_response_plot


def plot(threshold: Threshold) -> str:
    spec = views.make_spec()
    return dose_response_plot(spec.spec.fits[0], views.make_fits(threshold).fits[0], "delay", "what was found")


def test_a_fitted_plot_says_what_is_drawn_with_its_units() -> None:
    pieces = {piece.strip() for piece in Page(plot(views.knee_at(0.242))).pieces}
    assert {
        "delay of slow-wire [ms]",
        "requests that break",
        "ttft <= 300ms [%]",
        "threshold 242ms, 95 % interval",
        "fitted curve",
        "5 % of requests",
        "observed, 95 % interval",
    } <= pieces


def test_the_plot_has_a_name_for_readers_who_do_not_see_it() -> None:
    page = Page(plot(views.knee_at(0.242)))
    assert page.values("role") == ["img"]
    assert page.values("aria-label") == ["Dose-response of knee. what was found"]
    assert "title" in page.tags


def test_a_bracket_is_shaded_and_has_no_curve() -> None:
    points = tuple(CurvePoint(dose=dose, share=float(dose > 0.24), n=160) for dose in (0.0, *views.DOSES))
    bracket = Threshold(outcome="bracketed", value=None, lower=0.22, upper=0.26, n=800, windows=20, points=points)
    text = Page(plot(bracket)).text
    assert "threshold lies in here" in text
    assert "fitted curve" not in text


def test_an_open_interval_is_not_shaded() -> None:
    text = Page(plot(views.knee_at(0.242).model_copy(update={"upper": None}))).text
    assert "threshold 242ms" not in text
    assert "fitted curve" in text


def test_doses_of_two_seconds_and_more_are_drawn_in_seconds() -> None:
    slow = tuple(CurvePoint(dose=dose, share=dose / 4, n=40) for dose in (0.0, 1.0, 3.0))
    assert "delay of slow-wire [s]" in Page(plot(views.knee_at(0.242).model_copy(update={"points": slow}))).text


def test_a_dose_without_requests_is_left_out() -> None:
    points = (CurvePoint(dose=0.1, share=0.0, n=0), *views.knee_at(0.242).points)
    assert plot(views.knee_at(0.242).model_copy(update={"points": points})).startswith("<svg")


def test_nothing_observed_is_no_plot() -> None:
    assert plot(views.knee_at(0.242).model_copy(update={"points": ()})) == ""
