from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from chaosgate.faults.embedding.temporal_drift import TemporalDrift
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.sites import SiteContext

ROWS = np.random.default_rng(1).standard_normal((40, 128)).astype(np.float32)


def drift(**changed: Any) -> TemporalDrift:
    dose = {"parameter": "sigma", "values": [0.5], "hold": "2s", "washout": "500ms"}
    return TemporalDrift.model_validate({"name": "d", "kind": "embedding.temporal-drift", "dose": dose, **changed})


def noise(fault: TemporalDrift, number: int, dose: float = 0.5, phase: str = "block1") -> np.ndarray[Any, Any]:
    context = SiteContext("embedding", None, None, 0, len(ROWS), "prefill", "r", None)
    changed = fault.transform(ROWS, dose, fault.draw(7, f"7.{phase}.{number}"), context)
    return np.asarray(changed - ROWS)


def rms(values: np.ndarray[Any, Any]) -> float:
    return float(np.sqrt(np.mean(values.astype(float) ** 2)))


def test_its_dose_is_a_number_and_its_site_the_embedding() -> None:
    assert FAULTS.get("embedding.temporal-drift") is TemporalDrift
    assert TemporalDrift.axis() == DoseAxis("sigma", "number")
    assert drift().sites(32) == ("embedding",)
    assert drift().sharing() is False


@pytest.mark.parametrize("number", [1, 5, 8, 20, 30, 31 + 5])
def test_the_noise_swings_with_the_number_of_the_request(number: int) -> None:
    fault = drift()
    expected = 0.5 * abs(math.sin(2 * math.pi * number / 31))
    assert fault.received(0.5, fault.draw(7, f"7.block1.{number}")) == pytest.approx(expected, abs=1e-12)
    assert rms(noise(fault, number)) == pytest.approx(expected, rel=0.05)


def test_a_request_at_the_turn_of_the_swing_is_spared_at_any_dose() -> None:
    assert not noise(drift(), 62, dose=100.0).any()


def test_over_whole_swings_the_rms_dose_is_sigma_over_the_root_of_2() -> None:
    fault = drift(period=17)
    got = [fault.received(0.8, fault.draw(7, f"7.block1.{number}")) for number in range(17 * 4)]
    assert math.sqrt(sum(one**2 for one in got) / len(got)) == pytest.approx(0.8 / math.sqrt(2))
    every = np.concatenate([noise(fault, number, 0.8) for number in range(17)])
    assert rms(every) == pytest.approx(0.8 / math.sqrt(2), rel=0.02)


def test_the_noise_is_normal_and_another_one_for_each_request_and_seed() -> None:
    fault = drift()
    one, other = noise(fault, 8), noise(fault, 9)
    assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.06
    context = SiteContext("embedding", None, None, 0, len(ROWS), "prefill", "r", None)
    elsewhere = fault.transform(ROWS, 0.5, fault.draw(8, "8.block1.8"), context) - ROWS
    assert abs(np.corrcoef(one.ravel(), elsewhere.ravel())[0, 1]) < 0.06
    shape = one / rms(one)
    assert np.mean(shape**4) == pytest.approx(3, abs=0.3)
    assert abs(np.mean(shape**3)) < 0.15


def test_a_larger_dose_is_the_same_noise_made_larger() -> None:
    assert np.allclose(noise(drift(), 5, 1.0), 2 * noise(drift(), 5, 0.5), atol=1e-5)


def test_only_answers_that_differ_show_it() -> None:
    assert drift(select={"share": "50 %"}).witness(3.0).moved == pytest.approx(0.01)


@pytest.mark.parametrize("period", [2, 0])
def test_a_swing_that_is_always_at_its_turn_is_refused(period: int) -> None:
    with pytest.raises(ValidationError, match="Input should be greater than or equal to 3"):
        drift(period=period)


def test_torch_gives_the_same_rows() -> None:
    torch = pytest.importorskip("torch")
    fault, context = drift(), SiteContext("embedding", None, None, 3, len(ROWS), "prefill", "r", None)
    draw = fault.draw(7, "7.block1.8")
    found = fault.transform(torch.from_numpy(ROWS), 0.5, draw, context)
    assert np.array_equal(found.numpy(), fault.transform(ROWS, 0.5, draw, context))
