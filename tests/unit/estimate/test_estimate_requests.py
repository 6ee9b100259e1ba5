from __future__ import annotations

import math
from dataclasses import replace

import pytest
from simulated_run import Conditions, passing_run, simulate

from chaosgate.estimate.data import PhaseData
from chaosgate.estimate.requests import join

BLOCK = passing_run().phases["block1"]
BASELINE = passing_run().phases["baseline"]


def complaints(phase: PhaseData, faults: tuple[str, ...] = ("slow-wire",)) -> str:
    return "\n".join(join(phase, faults, 7).problems)


def test_every_request_of_a_whole_phase_is_joined() -> None:
    joined = join(BLOCK, ("slow-wire",), 7)

    assert joined.problems == ()
    assert [r.observation.request for r in joined.requests[:2]] == ["7.block1.0", "7.block1.1"]
    assert len(joined.requests) == len(BLOCK.observations)
    assert {index for r in joined.requests for index in r.windows.values()} == set(range(26))


def test_a_request_without_a_ledger_row_is_put_where_it_was_due() -> None:
    run = simulate(conditions=Conditions(refused=0.05))
    phase = run.phases["block1"]

    joined = join(phase, ("slow-wire",), 7)

    missed = [r for r in joined.requests if not r.by_ledger]
    assert len(missed) > 20
    assert joined.problems == ()
    # The simulated client sends 0.5 ms late and the gateway sees it 1 ms later; the median has both clocks' offset.
    start = next(event.at for event in phase.timeline if event.event == "started")
    for request in missed:
        assert request.seen == pytest.approx(start + request.observation.scheduled + 0.001, abs=1e-9)


def test_a_phase_whose_requests_never_arrived_has_no_common_clock() -> None:
    lost = PhaseData(
        "block1", [o.model_copy(update={"status": None, "outcome": "refused"}) for o in BLOCK.observations], [], []
    )

    joined = join(lost, ("slow-wire",), 7)

    assert joined.problems == ("block1: no request reached the gateway; is the load sent to the gateway's address?",)
    assert all(math.isnan(request.seen) for request in joined.requests)


def test_a_phase_without_requests_is_no_problem_of_the_join() -> None:
    assert join(PhaseData("block1", [], [], []), ("slow-wire",), 7).problems == ()


FIRST = BLOCK.observations[0]
BROKEN = {
    "block1: 1 requests were observed more than once, first 7.block1.0": {"observations": [FIRST, *BLOCK.observations]},
    "block1: 1 requests are missing from the observations by their numbers, first 7.block1.0": {
        "observations": BLOCK.observations[1:],
        "ledger": BLOCK.ledger[1:],
    },
    "block1: 1 requests are in the ledger and were not observed, first 7.block1.0": {
        "observations": BLOCK.observations[1:]
    },
    "block1: 1 requests were answered but lack their ledger rows, one for slow-wire, first 7.block1.0": {
        "ledger": BLOCK.ledger[1:]
    },
    "block1: 2 requests were answered but lack their ledger rows, one for slow-wire, first 7.block1.0": {
        "ledger": [BLOCK.ledger[0], *BLOCK.ledger[:1], BLOCK.ledger[1], *BLOCK.ledger[1:]]
    },
    "block1: 1 requests are not named 7.block1.NUMBER, first 8.block1.0": {
        "observations": [FIRST.model_copy(update={"request": "8.block1.0"}), *BLOCK.observations[1:]]
    },
    "block1: 1 requests name another phase, first 7.block1.0": {
        "observations": [FIRST.model_copy(update={"phase": "block2"}), *BLOCK.observations[1:]]
    },
    "block1: 1 requests have times that run backwards or are no numbers, first 7.block1.0": {
        "observations": [FIRST.model_copy(update={"first": FIRST.sent - 1}), *BLOCK.observations[1:]]
    },
}


@pytest.mark.parametrize("sentence", BROKEN)
def test_a_broken_phase_says_what_is_wrong(sentence: str) -> None:
    assert sentence in complaints(replace(BLOCK, **BROKEN[sentence]))


@pytest.mark.parametrize("field", ["scheduled", "sent", "first", "end"])
def test_a_time_that_is_no_number_is_a_problem(field: str) -> None:
    broken = FIRST.model_copy(update={field: math.nan})

    assert "or are no numbers" in complaints(replace(BLOCK, observations=[broken, *BLOCK.observations[1:]]))


def test_a_baseline_request_needs_one_row_without_a_fault() -> None:
    assert complaints(BASELINE, ()) == ""
    named = [BASELINE.ledger[0].model_copy(update={"fault": "slow-wire"}), *BASELINE.ledger[1:]]
    assert "lack their ledger rows, one for the request" in complaints(replace(BASELINE, ledger=named), ())
