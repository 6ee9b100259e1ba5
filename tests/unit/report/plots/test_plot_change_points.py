"""The plot of change points: a panel an SLI, levels between changes, doses shaded."""

from __future__ import annotations

import pytest
from report_page import Page

from chaosgate.model.change_points import ChangePoint, SliChanges
from chaosgate.report.phases import WindowRow
from chaosgate.report.plots.change_points import change_points_plot, levels

CHANGE = ChangePoint(at=6, lower=5, upper=7, told=9, p=0.001, before=0.05, after=0.2)
SERIES = SliChanges(
    sli="ttft-p95",
    dimension="duration",
    slice=1.0,
    at=tuple(float(at) for at in range(12)),
    values=(*[0.05] * 6, None, *[0.2] * 5),
    changes=(CHANGE,),
)
WINDOW = WindowRow("block1", "slow-wire", 0, 0.1, 6.0, 9.0, 10, "removed")


def test_levels_are_the_medians_between_changes() -> None:
    assert levels(SERIES) == [(0.0, 6.0, 0.05), (6.0, 12.0, 0.2)]


def test_a_panel_says_what_is_drawn_with_its_unit() -> None:
    text = Page(change_points_plot([SERIES], [WINDOW], "what changed")).text
    for piece in ("ttft-p95 [ms]", "slice of 1 s", "level (median)", "change, 95 % interval", "told"):
        assert piece in text


def test_an_sli_without_numbers_has_no_panel() -> None:
    empty = SERIES.model_copy(update={"sli": "ttft-p99", "at": (), "values": (), "changes": ()})
    assert "ttft-p99" not in Page(change_points_plot([SERIES, empty], [], "x")).text
    assert change_points_plot([empty], [], "x") == ""


def test_values_below_zero_are_not_cut_off() -> None:
    update = {"sli": "perplexity-change", "dimension": "number", "values": (*[-2.0] * 6, None, *[1.0] * 5)}
    text = Page(change_points_plot([SERIES.model_copy(update=update)], [], "x")).text
    assert "\N{MINUS SIGN}2" in text


@pytest.mark.parametrize("windows", [[], [WINDOW]])
def test_equal_series_give_an_equal_plot(windows: list[WindowRow]) -> None:
    assert change_points_plot([SERIES], windows, "x") == change_points_plot([SERIES], windows, "x")
