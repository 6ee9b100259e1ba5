from __future__ import annotations

import math
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from observed_fault import observed

from chaosgate.faults.wire.jitter import WireJitter
from chaosgate.model.fault import FAULTS, Delay, DoseAxis

SPEC = {
    "name": "unsteady",
    "kind": "wire.jitter",
    "dose": {"parameter": "jitter", "values": ["50ms"], "hold": "2s", "washout": "500ms"},
}


def jitter(**changed: Any) -> WireJitter:
    return WireJitter.model_validate({**SPEC, **changed})


def delay(fault: WireJitter, dose: float, number: int) -> float:
    (effect,) = fault.effects(dose, fault.draw(7, f"7.block1.{number}"))
    assert isinstance(effect, Delay)
    return effect.seconds


def test_its_dose_is_the_jitter_in_seconds() -> None:
    assert FAULTS.get("wire.jitter") is WireJitter
    assert WireJitter.axis() == DoseAxis("jitter", "duration")


def test_delays_are_uniform_from_nothing_to_twice_the_dose() -> None:
    found = sorted(delay(jitter(), 0.05, number) for number in range(4000))
    assert found[0] >= 0
    assert found[-1] < 0.1
    assert fmean(found) == pytest.approx(0.05, abs=0.002)
    # Kolmogorov and Smirnov: below 1.95/sqrt(n) but for one set of draws in a thousand.
    gaps = [abs(seconds / 0.1 - rank / len(found)) for rank, seconds in enumerate(found)]
    assert max(gaps) < 1.95 / math.sqrt(len(found))


@given(st.floats(0, 60), st.floats(0, 60), st.integers(0, 10**6))
def test_a_request_waits_longer_at_a_higher_dose_and_not_at_all_at_0(one: float, other: float, number: int) -> None:
    low, high = sorted((one, other))
    assert 0 <= delay(jitter(), low, number) <= delay(jitter(), high, number) <= 120
    assert delay(jitter(), 0.0, number) == 0


def test_its_witness_asks_for_half_of_the_selected_mean() -> None:
    witness = jitter(select={"share": "50 %"}).witness(0.2)
    assert (witness.what, witness.moved) == ("mean time to first token", pytest.approx(0.05))


async def test_the_client_waits_for_its_first_token_as_long_as_was_drawn() -> None:
    drawn = delay(jitter(), 0.2, 1)
    seen, row = await observed(SPEC, 0.2)
    waited = jitter().witness(0.2).value(seen)
    assert (row["effect"], seen.outcome) == (f"delay {drawn:.3f} s", "ok")
    assert waited is not None
    assert waited >= drawn
