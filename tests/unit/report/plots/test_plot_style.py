"""Figures as SVG elements of a page."""

from __future__ import annotations

import matplotlib
import pytest
from matplotlib.figure import Figure
from report_page import Page

from chaosgate.report.plots.style import axis_unit, inline_svg, labelled, plot_style
from chaosgate.units import Dimension


def small_plot(name: str, label: str = "dose [ms]") -> str:
    with plot_style():
        figure = Figure(figsize=(3, 2))
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], marker="o")
        axes.set_xlabel(label)
        return inline_svg(figure, name, "A <plot>", 'what "it" shows')


def test_an_svg_is_one_element_without_prolog_metadata_or_addresses() -> None:
    svg = small_plot("a")
    assert svg.startswith('<svg role="img" ')
    assert svg.endswith("</svg>")
    for word in ("<?xml", "<!DOCTYPE", "<metadata", "http"):
        assert word not in svg


def test_title_and_description_are_its_accessible_name() -> None:
    page = Page(small_plot("a"))
    assert page.values("aria-label") == ['A <plot>. what "it" shows']
    assert page.text.startswith("A <plot>")


def test_the_ids_of_two_plots_do_not_meet() -> None:
    one, two = Page(small_plot("a")), Page(small_plot("b"))
    assert one.values("id")
    assert not set(one.values("id")) & set(two.values("id"))
    assert {address[1:] for address in one.addresses} <= set(one.values("id"))


def test_text_stays_text_and_dollar_signs_are_no_formula() -> None:
    assert "cost $a^2$ <b>" in Page(small_plot("a", label="cost $a^2$ <b>")).text


def test_the_style_is_put_back() -> None:
    before = dict(matplotlib.rcParams)
    small_plot("a")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("dimension", "largest", "expected"),
    [
        ("duration", 0.32, (1e3, "ms")),
        ("duration", 2.0, (1.0, "s")),
        ("share", 1.0, (100.0, "%")),
        ("rate", 20.0, (1.0, "1/s")),
        ("count", 7.0, (1.0, "")),
    ],
)
def test_axes_have_units_that_are_easy_to_read(
    dimension: Dimension, largest: float, expected: tuple[float, str]
) -> None:
    assert axis_unit(dimension, largest) == expected


def test_a_label_without_a_unit_has_no_brackets() -> None:
    assert (labelled("delay", "ms"), labelled("replicas", "")) == ("delay [ms]", "replicas")
