"""The witness of a fault inside the engine: the client's answers, and how much of the dose the requests got."""

from __future__ import annotations

import math

import pytest
from simulated_run import OBJECTIVES, Conditions, changed, simulate, stream_spec

from chaosgate.conformance.observations import samples
from chaosgate.estimate.data import RunData
from chaosgate.estimate.windows import place_requests
from chaosgate.estimate.witness import read_witness
from chaosgate.judge.trust import witness_reasons
from chaosgate.model.fault import AnswerWitness
from chaosgate.model.result import WitnessReading
from chaosgate.model.spec import ChaosSpec


def spec(
    kind: str = "kv.token-overwrite", parameter: str = "share", values: tuple[float, ...] = (0.1, 0.4)
) -> ChaosSpec:
    doses = [f"{value:.0%}" if parameter == "share" else value for value in values]
    dose = {"parameter": parameter, "values": doses, "windows": 4, "hold": "2s", "washout": "500ms"}
    return stream_spec(faults=({"name": "inside", "kind": kind, "dose": dose},), fits=(), objectives=OBJECTIVES[3:])


def reading(run: RunData) -> WitnessReading:
    return read_witness(run, place_requests(run), run.spec.spec.faults[0])


def test_an_answer_differs_only_where_both_are_known() -> None:
    witness, by_clean = AnswerWitness(0.1), {}
    for sample in samples():
        same = None if sample.clean is None else sample.clean == sample.observation.text
        by_clean.setdefault((sample.observation.outcome == "ok", same), set()).add(witness.value(sample))
    assert by_clean == {
        (True, True): {0.0},
        (True, False): {1.0},
        (True, None): {None},
        (False, True): {None},
        (False, False): {None},
        (False, None): {None},
    }


def test_other_answers_at_the_client_show_that_the_fault_came_and_went() -> None:
    run = simulate(spec(), Conditions(wrong=0.3))
    found = reading(run)
    assert (found.bitten, found.gone, found.reason) == (True, True, None)
    assert (found.what, found.dimension) == ("share of answers that differ from the clean ones", "share")
    assert (found.before, found.after) == (0.0, 0.0)
    assert found.during == pytest.approx(0.3, abs=0.08)
    assert found.rms_dose == pytest.approx(0.4)
    (reason,) = witness_reasons(run.spec, [found])
    assert reason.verdict == "pass"
    assert "RMS" not in reason.text


def test_a_ledger_full_of_carried_faults_shows_nothing_without_other_answers() -> None:
    found = reading(simulate(spec(), Conditions(wrong=0.0)))
    assert found.applied > 100
    assert found.bitten is False
    assert found.reason == (
        "was not seen by the client: the share of answers that differ from the clean ones went from 0 % to 0 %; a rise "
        "of 20 %, above the variation between windows, was expected; an answer stays the same where the model did not "
        "need the positions that were hit"
    )


def test_requests_that_the_engine_did_not_carry_are_not_touched() -> None:
    run = simulate(spec(), Conditions(wrong=0.3))
    why = "the engine does not carry it"
    rows = [row.model_copy(update={"applied": False, "bypassed": why}) for row in run.phases["block1"].ledger]
    found = reading(changed(run, "block1", ledger=rows))
    assert (found.applied, found.bitten, found.rms_dose) == (0, False, None)
    assert found.reason is not None
    assert found.reason.startswith("touched nothing: no request of the ledger was changed at a dose above 0")


def test_the_rms_dose_is_that_of_the_requests_that_were_touched_at_the_largest_dose() -> None:
    run = simulate(spec("embedding.temporal-drift", "sigma", (0.5, 2.0)), Conditions(wrong=0.5))
    found = reading(run)
    numbers = {
        int(row.request.rpartition(".")[2]) for row in run.phases["block1"].ledger if row.applied and row.dose == 2
    }
    expected = [2 * math.sin(2 * math.pi * (number % 31) / 31) for number in numbers]
    assert found.rms_dose == pytest.approx(math.sqrt(sum(one**2 for one in expected) / len(expected)))
    assert found.rms_dose == pytest.approx(2 / math.sqrt(2), rel=0.05)
    (reason,) = witness_reasons(run.spec, [found])
    assert reason.text.endswith(f"requests touched; at an RMS dose of {found.rms_dose:.4g})")


def test_a_fault_of_the_wire_has_no_rms_dose() -> None:
    assert reading(simulate()).rms_dose is None
