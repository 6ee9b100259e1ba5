from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chaosgate.faults.wire.error import WireError
from chaosgate.model.fault import FAULTS, DoseAxis, Reply


def error(**changed: Any) -> WireError:
    dose = {"parameter": "probability", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    return WireError.model_validate({"name": "busy", "kind": "wire.error", "dose": dose, **changed})


def reply(fault: WireError, dose: float = 1.0) -> Reply:
    (effect,) = fault.effects(dose, fault.draw(7, "7.block1.1"))
    assert isinstance(effect, Reply)
    return effect


def test_its_dose_is_the_share_of_requests() -> None:
    assert FAULTS.get("wire.error") is WireError
    assert WireError.axis() == DoseAxis("probability", "share")


def test_the_reply_has_the_form_of_an_openai_error() -> None:
    assert reply(error(status=429)) == Reply(
        429, {}, {"error": {"message": "injected by busy", "type": "chaos", "param": None, "code": 429}}
    )


def test_retry_after_is_whole_seconds() -> None:
    assert reply(error(retryAfter="2s")).headers == {"Retry-After": "2"}


@pytest.mark.parametrize("dose", [0.1, 0.5])
def test_the_share_of_requests_hit_is_the_dose(dose: float) -> None:
    fault = error()
    hit = [bool(fault.effects(dose, fault.draw(7, f"7.block1.{number}"))) for number in range(5000)]
    assert sum(hit) / len(hit) == pytest.approx(dose, abs=0.025)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 10**6))
def test_who_is_hit_at_a_low_dose_is_hit_at_a_higher_one(one: float, other: float, number: int) -> None:
    fault = error()
    draw = fault.draw(7, f"7.block1.{number}")
    low, high = sorted((one, other))
    assert bool(fault.effects(low, draw)) <= bool(fault.effects(high, draw))
    assert fault.effects(0.0, draw) == ()


def test_a_status_that_is_no_server_error_is_refused() -> None:
    with pytest.raises(ValidationError, match="Input should be 429, 500, 502, 503 or 504"):
        error(status=200)
