from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chaosgate.faults.wire.latency import WireLatency
from chaosgate.model.fault import FAULTS, Delay, DoseAxis


def latency(**changed: Any) -> WireLatency:
    dose = {"parameter": "delay", "values": ["100ms"], "hold": "2s", "washout": "500ms"}
    return WireLatency.model_validate({"name": "slow-wire", "kind": "wire.latency", "dose": dose, **changed})


def delays(fault: WireLatency, dose: float, requests: int = 2000) -> list[float]:
    found = []
    for number in range(requests):
        (effect,) = fault.effects(dose, fault.draw(7, f"7.block1.{number}"))
        assert isinstance(effect, Delay)
        found.append(effect.seconds)
    return found


def test_its_dose_is_the_delay_in_seconds() -> None:
    assert FAULTS.get("wire.latency") is WireLatency
    assert WireLatency.axis() == DoseAxis("delay", "duration")


def test_without_jitter_every_request_waits_the_same() -> None:
    assert set(delays(latency(), 0.1)) == {0.1}


def test_jitter_is_uniform_around_the_delay() -> None:
    found = delays(latency(jitter="20ms"), 0.1)
    assert min(found) == pytest.approx(0.08, abs=0.001)
    assert max(found) == pytest.approx(0.12, abs=0.001)
    assert sum(found) / len(found) == pytest.approx(0.1, abs=0.001)
    assert sum(delay < 0.09 for delay in found) / len(found) == pytest.approx(0.25, abs=0.04)


@given(st.floats(0, 60), st.floats(0, 60), st.integers(0, 10**6))
def test_no_delay_is_negative_and_dose_0_is_none(dose: float, jitter: float, number: int) -> None:
    fault = latency().model_copy(update={"jitter": jitter})
    draw = fault.draw(7, f"7.block1.{number}")
    assert 0 <= fault.effects(dose, draw)[0].seconds <= 2 * dose  # type: ignore[union-attr]
    assert fault.effects(0.0, draw) == (Delay(0.0),)


def test_its_witness_asks_for_half_of_the_selected_delay() -> None:
    witness = latency(select={"share": "50 %"}).witness(0.2)
    assert witness.moved == pytest.approx(0.05)
    assert witness.what == "mean time to first token"


def test_a_delay_without_its_unit_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"read 5 without a unit; write a duration such as 250ms"):
        latency(jitter=5)
