from __future__ import annotations

import pytest
from simulated_run import Conditions, Json, simulate, stream_spec

from chaosgate.estimate.objectives import Estimator
from chaosgate.estimate.times import times_of
from chaosgate.estimate.windows import place_requests
from chaosgate.model.comparison import DetectionTime, RecoveryTime, Times

FIRST: Json = {"name": "first", "sli": "ttft-p95", "bound": "<= 200ms", "at": {"dose": "all"}}


def times(*objectives: Json, conditions: Conditions | None = None) -> Times:
    run = simulate(stream_spec(fits=(), objectives=objectives or (FIRST,)), conditions)
    return times_of(Estimator(run.spec, place_requests(run)))


def detection(found: Times, bound: str) -> list[DetectionTime]:
    return [each for each in found.detection if each.bound == bound]


def recovery(found: Times, bound: str) -> RecoveryTime:
    (one,) = (each for each in found.recovery if each.bound == bound)
    return one


def test_a_fault_that_breaks_the_bound_is_detected_in_every_window() -> None:
    by_dose = {each.dose: each for each in detection(times(), "<= 200ms")}

    assert by_dose[0.1].detected == 0
    assert by_dose[0.1].seconds is None
    for dose in (0.22, 0.26, 0.32):
        assert by_dose[dose].detected == by_dose[dose].windows == 4
        seconds = by_dose[dose].seconds
        # Nothing can be told before the first answer, which takes as long as the delay; at 20 requests a second some
        # tenths of a second more are enough.
        assert seconds is not None
        assert dose < seconds < 1.0


def test_wrong_answers_are_detected_by_their_share() -> None:
    exact: Json = {"name": "same", "sli": "exact-match", "bound": ">= 99 %", "at": {"dose": "all"}}
    found = detection(times(exact, conditions=Conditions(wrong=0.6)), ">= 99 %")

    assert all(each.detected == each.windows for each in found)


@pytest.mark.parametrize("slow", [1.5, 4.0])
def test_the_time_to_recover_is_how_long_it_stays_broken(slow: float) -> None:
    seconds = recovery(times(conditions=Conditions(slow_recovery=slow)), "<= 200ms").seconds

    assert seconds == pytest.approx(slow, abs=0.3)


def test_what_is_never_broken_after_the_fault_took_no_time() -> None:
    assert recovery(times(), "<= 200ms").seconds == 0


def test_what_stays_broken_has_not_recovered() -> None:
    found = recovery(times(conditions=Conditions(slow_recovery=60)), "<= 200ms")

    assert found.seconds is None
    assert found.requests > 0
    assert found.observed > 4


def test_a_change_is_watched_by_the_bound_that_it_comes_to() -> None:
    slower: Json = {"name": "slower", "sli": "ttft-p95", "change": "<= +150ms", "at": {"dose": "all"}}
    bounds = {each.bound for each in times(slower).detection if each.sli == "ttft-p95"}

    # The baseline's P95 is 30 ms and the P95 of an exponential of 10 ms, 30 ms more; the other is the steady state's.
    (own,) = bounds - {"<= 300ms"}
    assert own.startswith("<= 2")


def test_rates_are_not_watched() -> None:
    rate: Json = {"name": "rate", "sli": "request-rate", "bound": ">= 5/s", "at": {"dose": "all"}}

    assert "request-rate" not in {each.sli for each in times(rate).detection}
