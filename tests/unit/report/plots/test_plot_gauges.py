"""The panels of gauges: broken where nothing was read."""

from __future__ import annotations

import math

from chaosgate.model.gauges import LARGEST_ORDER
from chaosgate.model.result import GaugeSeries
from chaosgate.report.plots.gauges import broken, described

QUEUE = GaugeSeries(name="vllm:num_requests_waiting", at=(1.0, 2.0, 3.0, 9.0, 10.0), values=(0.0, 4.0, 5.0, 1.0, 0.0))
FREE = GaugeSeries(name=LARGEST_ORDER, at=(1.0, 2.0), values=(10.0, 4.0))


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
