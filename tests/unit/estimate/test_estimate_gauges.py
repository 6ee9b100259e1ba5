"""Gauges of a run: which are shown, and which are said to be missing."""

from __future__ import annotations

from simulated_run import changed, passing_run, verdict_of

from chaosgate.estimate import estimate_run
from chaosgate.estimate.gauges import missing_gauges, readings, shown_gauges
from chaosgate.model.gauges import LARGEST_ORDER
from chaosgate.model.observation import Gauge


def gauge(at: float, name: str, value: float | None, phase: str = "block1", reason: str | None = None) -> Gauge:
    return Gauge(at=at, phase=phase, name=name, value=value, reason=reason)


WAITING = "vllm:num_requests_waiting"


def test_readings_are_in_the_order_of_time_without_what_was_not_read() -> None:
    seen = [gauge(3.0, "a", 1.0), gauge(1.0, "a", 2.0), gauge(2.0, "b", 9.0), gauge(2.0, "a", None, reason="away")]
    found = readings(seen, "a")
    assert (found.at, found.values) == ([1.0, 3.0], [2.0, 1.0])


def test_what_a_person_looks_for_is_shown_over_all_phases() -> None:
    run = changed(passing_run(), "baseline", gauges=[gauge(3.0, WAITING, 1.0, "baseline"), gauge(3.0, "other", 1.0)])
    run = changed(run, "block1", gauges=[gauge(30.0, WAITING, 2.0), gauge(31.0, LARGEST_ORDER, 4.0)])
    assert [(one.name, one.at, one.values) for one in shown_gauges(run)] == [
        (WAITING, (3.0, 30.0), (1.0, 2.0)),
        (LARGEST_ORDER, (31.0,), (4.0,)),
    ]
    assert estimate_run(run).gauges == tuple(shown_gauges(run))


def test_what_is_missing_is_said_once_for_all_phases_and_changes_no_verdict() -> None:
    lacking = [gauge(3.0, "gpu", None, "baseline", "no driver")]
    run = changed(passing_run(), "baseline", gauges=lacking)
    run = changed(run, "block1", gauges=[gauge(30.0, "gpu", None, reason="no driver"), gauge(9.0, "x", None)])
    said = ("gpu in baseline, block1: no driver", "x in block1: it gave no reason")
    assert tuple(missing_gauges(run.phases)) == said
    assert estimate_run(run).health.gauges_missing == said
    assert verdict_of(run) == verdict_of(passing_run())


def test_a_source_that_was_read_at_other_times_is_said_to_be() -> None:
    seen = [gauge(1.0, "vllm:*", None, reason="away"), gauge(2.0, WAITING, 1.0), gauge(3.0, WAITING, 1.0)]
    seen += [gauge(1.0, "prom:q", None, reason="no series"), gauge(2.0, "prom:q", 1.0), gauge(2.0, "prom:qq", 1.0)]
    assert list(missing_gauges(changed(passing_run(), "block1", gauges=seen).phases)) == [
        "prom:q in block1: no series (1 readings there all the same)",
        "vllm:* in block1: away (2 readings there all the same)",
    ]
