from __future__ import annotations

import pytest
from simulated_run import Conditions, changed, passing_run, simulate

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
