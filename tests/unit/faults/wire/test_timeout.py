from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from observed_fault import observed
from pydantic import ValidationError

from chaosgate.conformance.observations import observations
from chaosgate.faults.wire.timeout import WireTimeout
from chaosgate.model.fault import FAULTS, Delay, DoseAxis, Reply

SPEC = {
    "name": "hung",
    "kind": "wire.timeout",
    "dose": {"parameter": "after", "values": ["500ms"], "hold": "2s", "washout": "500ms"},
}


def hung(**changed: Any) -> WireTimeout:
    return WireTimeout.model_validate({**SPEC, **changed})


def test_its_dose_is_the_wait_in_seconds() -> None:
    assert FAULTS.get("wire.timeout") is WireTimeout
    assert WireTimeout.axis() == DoseAxis("after", "duration")


@given(st.floats(0.001, 60), st.sampled_from([408, 504]), st.integers(0, 10**6))
def test_every_request_waits_and_is_then_told(dose: float, status: int, number: int) -> None:
    fault = hung(status=status)
    error = {"message": "injected by hung", "type": "chaos", "param": None, "code": status}
    assert fault.effects(dose, fault.draw(7, f"7.block1.{number}")) == (
        Delay(dose),
        Reply(status, {}, {"error": error}),
    )


def test_nothing_happens_at_dose_0() -> None:
    assert hung().effects(0.0, hung().draw(7, "7.block1.1")) == ()


def test_another_status_is_refused() -> None:
    with pytest.raises(ValidationError, match="Input should be 408 or 504"):
        hung(status=503)


def test_its_witness_asks_for_half_of_those_selected_whatever_the_dose() -> None:
    fault = hung(select={"share": "20 %"})
    assert [fault.witness(dose).moved for dose in (0.5, 30.0)] == [0.1, 0.1]


def test_the_witness_counts_the_status_and_the_clients_own_time_out() -> None:
    witness = hung().witness(0.5)
    shown = [seen.model_copy(update={"status": status}) for seen in observations() for status in (200, 503, 504)]
    counted = {(seen.outcome, seen.status) for seen in shown if witness.value(seen)}
    assert counted == {("timeout", 200), ("timeout", 503)} | {(seen.outcome, 504) for seen in observations()}


@pytest.mark.parametrize("status", [408, 504])
async def test_the_client_gets_the_status_after_its_wait(status: int) -> None:
    seen, row = await observed({**SPEC, "status": status}, 0.2)
    assert (seen.status, seen.outcome, seen.tokens) == (status, "error", ())
    assert seen.end - seen.sent >= 0.2
    assert row["effect"] == f"delay 0.200 s; reply {status}"
    assert hung(status=status).witness(0.2).value(seen) == 1


async def test_a_client_with_less_patience_times_out_by_itself() -> None:
    seen, row = await observed(SPEC, 30.0, patience=1.0)
    assert (seen.status, seen.outcome) == (None, "timeout")
    assert row["applied"]
    assert hung().witness(30.0).value(seen) == 1


async def test_a_window_at_dose_0_leaves_the_answer_alone() -> None:
    seen, row = await observed(SPEC, 0.0)
    assert (seen.outcome, len(seen.tokens), row["bypassed"]) == ("ok", 6, "dose 0")
