from __future__ import annotations

from typing import Any

import pytest
from gateway_rig import gateway, named, raw, raw_post, upstream
from hypothesis import given
from hypothesis import strategies as st
from observed_fault import observed

from chaosgate.conformance.observations import observations
from chaosgate.faults.wire.reset import WireReset
from chaosgate.model.fault import FAULTS, DoseAxis, Reset

SPEC = {
    "name": "reset",
    "kind": "wire.reset",
    "dose": {"parameter": "probability", "values": ["10 %"], "hold": "2s", "washout": "500ms"},
}


def resets(**changed: Any) -> WireReset:
    return WireReset.model_validate({**SPEC, **changed})


def test_its_dose_is_the_share_of_requests() -> None:
    assert FAULTS.get("wire.reset") is WireReset
    assert WireReset.axis() == DoseAxis("probability", "share")


@pytest.mark.parametrize("dose", [0.1, 0.5])
def test_the_share_of_requests_reset_is_the_dose(dose: float) -> None:
    fault = resets()
    hit = [fault.effects(dose, fault.draw(7, f"7.block1.{number}")) == (Reset(),) for number in range(5000)]
    assert sum(hit) / len(hit) == pytest.approx(dose, abs=0.025)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 10**6))
def test_who_is_hit_at_a_low_dose_is_hit_at_a_higher_one(one: float, other: float, number: int) -> None:
    fault = resets()
    draw = fault.draw(7, f"7.block1.{number}")
    low, high = sorted((one, other))
    assert len(fault.effects(low, draw)) <= len(fault.effects(high, draw))
    assert fault.effects(0.0, draw) == ()
    assert fault.effects(1.0, draw) == (Reset(),)


async def test_the_connection_is_reset_and_the_server_never_asked() -> None:
    asked: list[Any] = []

    async def never(request: Any) -> Any:
        asked.append(request)

    async with upstream(never) as url, gateway(url, [SPEC]) as served:
        served.run.windows.open("reset", 0, 1.0, 60)
        with pytest.raises(ConnectionResetError):
            await raw(served.url, raw_post(named(1)))
    assert asked == []


async def test_the_client_sees_a_connection_cut_before_its_status() -> None:
    seen, row = await observed(SPEC, 1.0)
    assert (seen.outcome, seen.status, row["effect"]) == ("cut", None, "reset")
    assert resets().witness(1.0).value(seen) == 1


def test_the_witness_counts_no_stream_that_is_cut_later() -> None:
    witness = resets(select={"share": "50 %"}).witness(0.4)
    assert witness.moved == pytest.approx(0.1)
    assert {witness.value(seen) for seen in observations()} == {0.0}
