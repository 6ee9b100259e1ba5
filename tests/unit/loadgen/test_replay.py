"""A trace is replayed at its own times, faster when told, cut to the phase, and over again only when told."""

from __future__ import annotations

from typing import Any

import pytest

from chaosgate.errors import UsageError
from chaosgate.loadgen.calls import WHOLE, Calls
from chaosgate.loadgen.replay import replayed
from chaosgate.model.arrivals import TraceArrivals
from chaosgate.model.workload import Workload


def trace(**more: Any) -> TraceArrivals:
    given = {"process": "trace", "file": "t.csv", "rows": "0 1 1 4", **more}
    return TraceArrivals.model_validate(given)


def test_times_are_those_of_the_trace_cut_to_the_phase() -> None:
    assert list(replayed(trace(), 60.0)) == [(0.0, 0), (1.0, 1), (1.0, 2), (4.0, 3)]
    assert list(replayed(trace(), 1.0)) == [(0.0, 0)]


def test_a_speed_divides_every_time() -> None:
    assert [at for at, _ in replayed(trace(speed=2), 60.0)] == [0.0, 0.5, 0.5, 2.0]
    assert [at for at, _ in replayed(trace(speed=0.5), 5.0)] == [0.0, 2.0, 2.0]


def test_a_repeated_trace_starts_over_a_mean_gap_after_its_end() -> None:
    again = trace(repeat=True)
    assert again.period == pytest.approx(4 + 4 / 3)
    times = [at for at, _ in replayed(again, 11.0)]
    assert times[4:8] == pytest.approx([16 / 3, 19 / 3, 19 / 3, 28 / 3])
    assert [row for _, row in replayed(again, 11.0)] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert len(list(replayed(trace(), 1000.0))) == 4


def test_rates_are_those_of_the_trace_while_it_lasts() -> None:
    assert trace().mean_rate(4.0) == pytest.approx(3 / 4)
    assert trace().mean_rate(40.0) == pytest.approx(4 / 40)
    assert trace(repeat=True).mean_rate(400.0) == pytest.approx(3 / 4)
    assert trace(repeat=True, speed=2).rate_at(300.0) == pytest.approx(3 / 2)
    assert (trace().rate_at(0.0), trace().rate_at(50.0)) == (pytest.approx(3 / 4), 0.0)
    assert TraceArrivals.model_validate({"process": "trace", "file": "t.csv"}).mean_rate(5.0) is None


def test_a_single_request_is_not_repeated() -> None:
    assert list(replayed(trace(rows="0", repeat=True), 60.0)) == [(0.0, 0)]


def test_a_trace_that_was_never_read_is_refused() -> None:
    unread = TraceArrivals.model_validate({"process": "trace", "file": "t.csv"})
    with pytest.raises(UsageError, match=r"the trace 't.csv' has not been read; load the spec from its file"):
        list(replayed(unread, 60.0))


def test_requests_are_as_long_as_the_trace_tells_also_when_it_starts_over() -> None:
    arrivals = {
        "process": "trace",
        "file": "t.csv",
        "repeat": True,
        "rows": "0,3,7 1,50,9",
    }
    load = Workload.model_validate({"arrivals": arrivals, "prompts": {"lengths": "trace"}})
    calls = list(Calls(load, "block1", 0.0).due(4.0, WHOLE))
    assert [call.scheduled for call in calls] == [0.0, 1.0, 2.0, 3.0]
    assert [len(call.prompt.text.split(" ")) for call in calls] == [3, 50, 3, 50]
    assert [call.prompt.max_tokens for call in calls] == [7, 9, 7, 9]
    assert [call.prompt_name for call in calls] == ["trace/0", "trace/1", "trace/0", "trace/1"]
