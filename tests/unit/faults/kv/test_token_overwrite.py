from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from chaosgate.faults.kv.token_overwrite import TokenOverwrite
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.sites import SiteContext

KEYS = np.random.default_rng(2).standard_normal((300, 2, 32)).astype(np.float32) * 3


def overwrite(**changed: Any) -> TokenOverwrite:
    dose = {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    return TokenOverwrite.model_validate({"name": "o", "kind": "kv.token-overwrite", "dose": dose, **changed})


def context(first: int = 0, count: int = 300, layer: int = 1) -> SiteContext:
    return SiteContext(f"layer.{layer}.attention.k", layer, None, first, count, "prefill", "r", None, 2)


def changed(dose: float, number: int = 1, layer: int = 1, fault: TokenOverwrite | None = None) -> Any:
    fault = fault or overwrite()
    return fault.transform(KEYS, dose, fault.draw(7, f"7.block1.{number}"), context(layer=layer))


def hit(dose: float, number: int = 1, layer: int = 1) -> np.ndarray[Any, Any]:
    return np.asarray((changed(dose, number, layer) != KEYS).any(axis=(1, 2)))


def test_its_dose_is_a_share_of_positions() -> None:
    assert FAULTS.get("kv.token-overwrite") is TokenOverwrite
    assert TokenOverwrite.axis() == DoseAxis("share", "share")


@pytest.mark.parametrize("dose", [0.05, 0.3, 0.7])
def test_the_share_of_positions_hit_is_the_dose(dose: float) -> None:
    shares = [hit(dose, number).mean() for number in range(60)]
    assert np.mean(shares) == pytest.approx(dose, abs=4 * np.sqrt(dose * (1 - dose) / (60 * 300)))


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 10**6))
def test_who_is_hit_at_a_low_dose_is_hit_at_a_higher_one_in_the_same_way(one: float, other: float, number: int) -> None:
    low, high = sorted((one, other))
    touched = hit(low, number)
    assert not (touched & ~hit(high, number)).any()
    assert np.array_equal(changed(low, number)[touched], changed(high, number)[touched])


def test_dose_0_touches_nothing_and_dose_1_everything() -> None:
    assert np.array_equal(changed(0.0), KEYS)
    assert hit(1.0).all()


def test_a_position_is_hit_in_all_layers_by_another_noise_in_each() -> None:
    assert np.array_equal(hit(0.3, layer=0), hit(0.3, layer=2))
    touched = hit(0.3)
    one, other = changed(0.3, layer=0)[touched].ravel(), changed(0.3, layer=2)[touched].ravel()
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.08


def test_the_noise_is_as_large_as_what_it_replaces_and_knows_nothing_of_it() -> None:
    found = changed(1.0)
    size = np.sqrt((KEYS**2).mean(axis=-1, keepdims=True))
    assert (found / size).std() == pytest.approx(1, abs=0.03)
    assert abs(np.corrcoef(found.ravel(), KEYS.ravel())[0, 1]) < 0.03


@given(st.integers(1, 299))
@settings(max_examples=20)
def test_it_follows_positions_however_the_prompt_is_cut(at: int) -> None:
    fault = overwrite()
    draw = fault.draw(7, "7.block1.1")
    parts = [
        fault.transform(KEYS[:at], 0.4, draw, context(0, at)),
        fault.transform(KEYS[at:], 0.4, draw, context(at, 300 - at)),
    ]
    assert np.array_equal(np.concatenate(parts), changed(0.4))


@pytest.mark.parametrize(
    ("layers", "model", "sites"),
    [
        (None, 3, (0, 1, 2)),
        (None, 2, (0, 1)),
        (None, 32, (29, 30, 31)),
        ([1], 3, (1,)),
        ([0, 5], 3, (0, 5)),
    ],
)
def test_it_acts_on_the_last_three_layers_unless_told_otherwise(
    layers: list[int] | None, model: int, sites: tuple[int, ...]
) -> None:
    assert overwrite(layers=layers).sites(model) == tuple(f"layer.{layer}.attention.k" for layer in sites)


def test_its_neighbours_are_spared_unless_the_cache_is_shared() -> None:
    assert overwrite().sharing() is False
    assert overwrite(shares=True).sharing() is True


@pytest.mark.parametrize("layers", [[], [-1]])
def test_layers_that_no_model_has_are_refused(layers: list[int]) -> None:
    with pytest.raises(ValidationError, match=r"at least 1 item|greater than or equal to 0"):
        overwrite(layers=layers)


def test_half_of_the_dose_must_show_in_the_answers() -> None:
    assert overwrite(select={"share": "50 %"}).witness(0.4).moved == pytest.approx(0.1)


def test_torch_gives_the_same_keys() -> None:
    torch = pytest.importorskip("torch")
    fault = overwrite()
    found = fault.transform(torch.from_numpy(KEYS), 0.4, fault.draw(7, "7.block1.1"), context())
    assert np.allclose(found.numpy(), changed(0.4), rtol=1e-6)
    assert np.array_equal((found.numpy() != KEYS).any(axis=(1, 2)), hit(0.4))
