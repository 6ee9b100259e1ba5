from __future__ import annotations

from dataclasses import replace

import pytest
from simulated_run import LATENCY, OBJECTIVES, Conditions, changed, passing_run, simulate, stream_spec

from chaosgate.estimate.data import RunData
from chaosgate.estimate.windows import place_requests
from chaosgate.estimate.witness import read_witness
from chaosgate.model.result import WitnessReading


def reading(run: RunData) -> WitnessReading:
    return read_witness(run, place_requests(run), run.spec.spec.faults[0])


def test_a_fault_that_came_and_went() -> None:
    run = passing_run()
    found = reading(run)

    assert (found.bitten, found.gone, found.reason) == (True, True, None)
    assert (found.dose, found.dimension, found.what) == (0.32, "duration", "mean time to first token")
    # 30 ms and an exponential part of 10 ms on average; 320 ms more at the largest dose.
    assert found.before == pytest.approx(0.040, abs=0.004)
    assert found.during == pytest.approx(0.360, abs=0.004)
    assert found.after == pytest.approx(0.040, abs=0.004)
    assert found.applied == sum(row.applied for row in run.phases["block1"].ledger)


def test_the_ledger_alone_does_not_show_that_a_fault_bit() -> None:
    found = reading(simulate(conditions=Conditions(bites=0.3)))

    assert found.applied > 700
    assert (found.bitten, found.gone) == (False, True)
    assert found.reason is not None
    assert found.reason.startswith("was not seen by the client: the mean time to first token went from ")
    assert found.reason.endswith("a rise of 160ms, above the variation between windows, was expected")


def test_a_fault_that_touched_nothing() -> None:
    run = passing_run()
    untouched = [row.model_copy(update={"applied": False}) for row in run.phases["block1"].ledger]
    found = reading(changed(run, "block1", ledger=untouched))

    assert (found.applied, found.bitten) == (0, False)
    assert found.reason == "touched nothing: no request of the ledger was changed at a dose above 0"


def test_a_fault_that_is_not_gone() -> None:
    found = reading(simulate(conditions=Conditions(slow_recovery=30)))

    assert (found.bitten, found.gone) == (True, False)
    assert found.reason is not None
    assert found.reason.startswith("is not gone: the mean time to first token was ")


def test_what_is_left_of_a_large_dose_must_be_less_than_a_small_one() -> None:
    """The recovery is 60 ms slower: less than half of the largest dose, 320 ms, more than half of the smallest, 100."""
    found = reading(slower_after(0.06))

    assert (found.bitten, found.gone) == (True, False)
    assert found.reason is not None
    assert found.reason.startswith("is not gone: the mean time to first token was ")
    assert reading(slower_after(0.04)).gone


def slower_after(seconds: float) -> RunData:
    """The passing run with a recovery that is slower by so much."""
    run = passing_run()
    later = {sample.observation.request for window in place_requests(run).recovered(None) for sample in window.samples}
    seen = [
        o.model_copy(update={"first": o.first + seconds}) if o.request in later and o.first is not None else o
        for o in run.phases["block1"].observations
    ]
    return changed(run, "block1", observations=seen)


def test_a_fault_may_take_the_time_that_within_allows() -> None:
    assert reading(simulate(conditions=Conditions(slow_recovery=5))).gone


OTHER = {**LATENCY, "name": "other-wire"}


def test_a_fault_before_others_is_looked_for_in_its_own_last_controls() -> None:
    spec = stream_spec(faults=(LATENCY, OTHER), fits=(), objectives=(OBJECTIVES[3],))
    run = simulate(spec)
    placed = place_requests(run)
    last = {sample.observation.request for window in placed.controls("slow-wire")[-2:] for sample in window.samples}
    seen = [
        o.model_copy(update={"first": o.first + 0.4, "end": o.end + 0.4})
        if o.request in last and o.first is not None
        else o
        for o in run.phases["block1"].observations
    ]
    lingering = changed(run, "block1", observations=seen)

    assert [read_witness(run, placed, fault).gone for fault in spec.spec.faults] == [True, True]
    first, second = (read_witness(lingering, place_requests(lingering), fault) for fault in spec.spec.faults)
    assert (first.gone, second.gone) == (False, True)
    assert first.reason is not None
    assert first.reason.endswith(" in its last controls")


def test_what_lingers_after_the_last_fault_is_not_held_against_an_earlier_one() -> None:
    spec = stream_spec(faults=(LATENCY, OTHER), fits=(), objectives=(OBJECTIVES[3],))
    run = simulate(spec, Conditions(slow_recovery=30))

    assert [read_witness(run, place_requests(run), fault).gone for fault in spec.spec.faults] == [True, False]


def test_controls_that_end_early_show_no_earlier_fault_gone() -> None:
    spec = stream_spec(faults=(LATENCY, OTHER), fits=(), objectives=(OBJECTIVES[3],))
    run = simulate(spec)
    placed = place_requests(run)
    cut = replace(placed, sweeps={**placed.sweeps, "slow-wire": placed.sweeps["slow-wire"][:3]})

    found = read_witness(run, cut, spec.spec.faults[0])
    assert (found.after, found.gone) == (None, False)


def test_a_rise_within_the_weather_between_windows_is_no_effect() -> None:
    run = passing_run()
    largest = {window.window for window in run.injections["block1"].windows if window.dose == 0.32}
    rows = {row.request: row for row in run.phases["block1"].ledger}
    # One window of four is 1.3 s slower, the others are undisturbed: the mean rises enough, but one window did it.
    slow = min(largest)
    seen = []
    for observation in run.phases["block1"].observations:
        window = rows[observation.request].window
        first = observation.sent + (1.3 if window == slow else 0.04)
        seen.append(observation.model_copy(update={"first": first, "end": first}) if window in largest else observation)
    found = reading(changed(run, "block1", observations=seen))

    assert found.during is not None
    assert found.before is not None
    assert found.during - found.before > 0.16
    assert not found.bitten


def test_a_witness_that_says_nothing_is_no_effect() -> None:
    run = passing_run()
    seen = [o.model_copy(update={"first": None}) for o in run.phases["block1"].observations]
    found = reading(changed(run, "block1", observations=seen))

    assert (found.before, found.during, found.after, found.bitten, found.gone) == (None, None, None, False, False)
    assert found.reason == "the mean time to first token before the fault is unknown: no request shows it"
