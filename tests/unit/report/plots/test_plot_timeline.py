"""The timeline plot: panels with units, windows with their doses, broken lines where nothing was measured."""

from __future__ import annotations

import math
from dataclasses import replace

import report_views as views
from report_page import Page

from chaosgate.model.gauges import LARGEST_ORDER
from chaosgate.model.result import GaugeSeries, SeriesPoint
from chaosgate.report.phases import marks_of, stretches_of, windows_of
from chaosgate.report.plots.timeline import TimelineData, broken_line, dose_strength, timeline_plot
from chaosgate.report.view import ReportView


def data_of(view: ReportView) -> TimelineData:
    return TimelineData(
        series=() if view.estimates is None else view.estimates.series,
        windows=windows_of(view),
        stretches=stretches_of(view),
        marks=marks_of(view),
        axes={"slow-wire": "duration"},
    )


def pieces(data: TimelineData) -> list[str]:
    return [piece.strip() for piece in Page(timeline_plot(data, "what is shown")).pieces]


def test_every_panel_is_labelled_with_its_unit(passing: ReportView) -> None:
    found = pieces(data_of(passing))
    for label in ("token [ms]", "errors [%]", "[1/s]", "time on the gateway's clock [s]", "p50", "p99"):
        assert label in found


def test_every_gauge_has_a_panel_with_its_name_on_the_same_axis(passing: ReportView) -> None:
    queue = GaugeSeries(name="vllm:num_requests_waiting", at=(1.0, 2.0), values=(0.0, 4.0))
    free = GaugeSeries(name=LARGEST_ORDER, at=(1.0, 2.0), values=(10.0, 4.0))
    plain, found = (pieces(replace(data_of(passing), gauges=gauges)) for gauges in ((), (queue, free)))
    assert {"vllm:num_requests_waiting", f"{LARGEST_ORDER} (at worst 4: heavy fragmentation)"} <= set(found) - set(
        plain
    )
    assert found.count("time on the gateway's clock [s]") == 1


def test_each_window_carries_its_dose_and_the_stretches_their_names(passing: ReportView) -> None:
    found = pieces(data_of(passing))
    assert [found.count(dose) for dose in ("100ms", "180ms", "220ms", "260ms", "320ms")] == [4] * 5
    assert {"slow-wire", "baseline", "recovery"} <= set(found)


def test_a_lane_names_its_fault_and_the_range_of_its_doses(passing: ReportView) -> None:
    data = data_of(passing)
    assert "100ms to 320ms" in pieces(data)
    controls = replace(data, windows=tuple(row for row in data.windows if row.dose == 0))
    assert "slow-wire" in pieces(controls)
    one = replace(data, windows=tuple(replace(row, on=20.0, off=20.1) for row in data.windows if row.dose == 0.22))
    assert pieces(one).count("220ms") == 1


def test_halts_and_expiries_are_labelled(undecided: ReportView) -> None:
    assert "halt" in pieces(data_of(undecided))
    expired = replace(undecided, timeline=views.timeline(views.windows()[:1], why="expired"))
    assert "slow-wire expired" in pieces(data_of(expired))


def test_a_window_that_is_still_on_reaches_the_end(passing: ReportView) -> None:
    data = data_of(passing)
    open_end = replace(data, windows=(replace(data.windows[2], off=None),))
    assert "220ms" in pieces(open_end)


def test_slow_answers_are_drawn_in_seconds(passing: ReportView) -> None:
    data = data_of(passing)
    slow = tuple(point.model_copy(update={"ttft_p99": 3.5}) for point in data.series)
    assert "token [s]" in pieces(replace(data, series=slow))


def test_nothing_but_failures_is_a_plot_without_times(passing: ReportView) -> None:
    points = tuple(SeriesPoint(at=float(at), requests=3, errors=3, ttft_p50=None, ttft_p99=None) for at in range(5))
    assert "errors [%]" in pieces(replace(data_of(passing), series=points))


def test_a_run_without_a_series_has_no_plot(passing: ReportView) -> None:
    assert timeline_plot(replace(data_of(passing), series=()), "nothing") == ""


def test_a_line_is_interrupted_where_seconds_or_values_are_missing() -> None:
    points = [SeriesPoint(at=at, requests=1, errors=0, ttft_p50=None, ttft_p99=None) for at in (0.0, 1.0, 5.0, 6.0)]
    times, values = broken_line(points, [1.0, 2.0, None, 4.0])
    assert times == [0.5, 1.5, 1.5, 5.5, 6.5]
    assert [None if math.isnan(value) else value for value in values] == [1.0, 2.0, None, None, 4.0]


def test_the_shade_grows_with_the_rank_of_the_dose_and_controls_have_none() -> None:
    strengths = [dose_strength(dose, views.DOSES) for dose in (0.0, *views.DOSES)]
    assert strengths[0] == 0.0
    assert strengths == sorted(strengths)
    assert len(set(strengths)) == 6
    assert strengths[-1] == 1.0
