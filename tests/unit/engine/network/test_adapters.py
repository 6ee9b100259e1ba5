from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from chaosgate.engine.network import adapters, stored
from chaosgate.engine.network.adapters import Adapter, AdapterLayer, LowRank
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import Weights
from chaosgate.errors import UsageError

RANDOM = np.random.default_rng(3)


def low(inputs: int, outputs: int) -> LowRank:
    return LowRank(
        RANDOM.standard_normal((inputs, 4), dtype=np.float32), RANDOM.standard_normal((4, outputs), dtype=np.float32)
    )


@pytest.fixture(scope="module")
def adapter(config: ModelConfig) -> Adapter:
    layers = tuple(AdapterLayer(low(128, 128), low(128, 64), low(128, 64), low(128, 128)) for _ in range(config.layers))
    return Adapter("some", 4, 0.5, layers)


def test_arrays_by_name_make_the_same_adapter(adapter: Adapter) -> None:
    again = adapters.from_arrays("some", dict(adapter.named()))
    assert again.digest() == adapter.digest()
    assert (again.name, again.rank, again.scale) == ("some", 4, 0.5)


def test_the_shapes_are_those_of_the_arrays(config: ModelConfig, adapter: Adapter) -> None:
    assert list(adapters.shapes(config, 4).items()) == [(name, array.shape) for name, array in adapter.named()]


def test_adapters_that_do_not_fit_the_model_are_refused(adapter: Adapter, tmp_path: Path) -> None:
    for name in adapters.NAMES:
        stored.write(name, dict(adapter.named()), tmp_path)
    message = f"{tmp_path / 'tenant-a.safetensors'}: layers.0.query.down has the shape (128, 4) in place of (128, 8);"
    with pytest.raises(UsageError, match=re.escape(message)):
        adapters.shipped(tmp_path)


def test_a_missing_array_is_named(adapter: Adapter) -> None:
    arrays = dict(adapter.named())
    del arrays["layers.2.value.up"]
    with pytest.raises(KeyError, match=r"layers\.2\.value\.up"):
        adapters.from_arrays("some", arrays)


def test_merging_adds_each_change_to_its_own_columns(weights: Weights, adapter: Adapter) -> None:
    merged = adapters.merged(weights, adapter).layers[1]
    base, change = weights.layers[1], adapter.layers[1]
    x = RANDOM.standard_normal((7, 128), dtype=np.float32)
    for (down, up), columns in (
        (change.query, slice(0, 128)),
        (change.key, slice(128, 192)),
        (change.value, slice(192, 256)),
    ):
        expected = (x @ base.qkv)[:, columns] + 0.5 * (x @ down @ up)
        assert_allclose((x @ merged.qkv)[:, columns], expected, atol=1e-3)
    down, up = change.output
    assert_allclose(x @ merged.output, x @ base.output + 0.5 * (x @ down @ up), atol=1e-3)


def test_merging_leaves_the_rest_alone(weights: Weights, adapter: Adapter) -> None:
    merged = dict(adapters.merged(weights, adapter).named())
    for name, array in weights.named():
        if name.endswith((".qkv", ".output")):
            assert np.abs(merged[name] - array).max() > 0.1
        else:
            assert_array_equal(merged[name], array)


def test_the_shipped_adapters_fit_the_model(config: ModelConfig) -> None:
    shipped = adapters.shipped()
    assert tuple(shipped) == ("tenant-a", "tenant-b")
    widths = {"query": (128, 128), "key": (128, 64), "value": (128, 64), "output": (128, 128)}
    for adapter in shipped.values():
        assert adapter.rank == 8
        assert len(adapter.layers) == config.layers
        for layer in adapter.layers:
            for field in fields(layer):
                down, up = getattr(layer, field.name)
                inputs, outputs = widths[field.name]
                assert down.shape == (inputs, 8)
                assert up.shape == (8, outputs)
    assert len({adapter.digest() for adapter in shipped.values()}) == 2
