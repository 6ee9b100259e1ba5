"""The plot of gauges: a panel for each, broken where nothing was read, and nothing at all without any."""

from __future__ import annotations

import math

from chaosgate.model.gauges import LARGEST_ORDER
from chaosgate.model.result import GaugeSeries
from chaosgate.report.phases import WindowRow
from chaosgate.report.plots.gauges import broken, described, gauges_plot

QUEUE = GaugeSeries(name="vllm:num_requests_waiting", at=(1.0, 2.0, 3.0, 9.0, 10.0), values=(0.0, 4.0, 5.0, 1.0, 0.0))
FREE = GaugeSeries(name=LARGEST_ORDER, at=(1.0, 2.0), values=(10.0, 4.0))
WINDOW = WindowRow(phase="block1", fault="slow", window=0, dose=0.1, on=2.0, off=3.0, applied=1, ended="removed")


def test_without_gauges_there_is_no_plot() -> None:
    assert gauges_plot((), [WINDOW]) == ""


def test_every_gauge_has_a_panel_with_its_name() -> None:
    plot = gauges_plot((QUEUE, FREE), [WINDOW])
    assert plot.startswith("<svg")
    assert all(text in plot for text in ("vllm:num_requests_waiting", "at worst 4: heavy fragmentation"))
    assert gauges_plot((QUEUE, FREE), [WINDOW]) == plot


def test_a_line_is_broken_where_nothing_was_read() -> None:
    times, values = broken(QUEUE)
    assert times == [1.0, 2.0, 3.0, 4.0, 9.0, 10.0]
    assert math.isnan(values[3])
    assert [value for value in values if not math.isnan(value)] == list(QUEUE.values)


def test_a_source_that_is_read_seldom_is_not_broken_between_its_readings() -> None:
    seldom = GaugeSeries(name="prom:queue", at=(0.0, 15.0, 30.0, 90.0), values=(1.0, 2.0, 3.0, 4.0))
    times, values = broken(seldom)
    assert times == [0.0, 15.0, 30.0, 45.0, 90.0]
    assert sum(map(math.isnan, values)) == 1


def test_a_single_reading_is_one_point() -> None:
    assert broken(GaugeSeries(name="a", at=(1.0,), values=(2.0,))) == ([1.0], [2.0])


def test_only_free_memory_has_a_level() -> None:
    assert described(QUEUE) == "vllm:num_requests_waiting"
    assert described(FREE).endswith("(at worst 4: heavy fragmentation)")
