"""The network in torch is the network in numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

torch = pytest.importorskip("torch", reason="needs the extra torch")

from chaosgate.engine.network import adapters
from chaosgate.engine.network.adapters import Adapter, AdapterLayer, LowRank
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import Weights
from chaosgate.engine.training.network import Network, lows

from ..network import reference

RANDOM = np.random.default_rng(9)


def tokens(count: int, rows: int = 1) -> np.ndarray:
    return RANDOM.integers(0, 512, (rows, count))


def logits(network: Network, ids: np.ndarray, adapter: Adapter | None = None) -> np.ndarray:
    with torch.no_grad():
        return network(torch.from_numpy(ids), low=lows(adapter) if adapter else ())[0].numpy()


@pytest.fixture(scope="module")
def network(config: ModelConfig, weights: Weights) -> Network:
    return Network(config, weights)


def test_equals_an_independent_mixtral(config: ModelConfig, weights: Weights, network: Network) -> None:
    ids = tokens(20)
    assert_allclose(logits(network, ids)[0], reference.logits(config, weights, list(ids[0])), atol=2e-4)


def test_wanted_positions_are_rows_of_all(network: Network) -> None:
    ids = tokens(12, rows=3)
    wanted = torch.from_numpy(RANDOM.random((3, 12)) < 0.4)
    with torch.no_grad():
        picked, _ = network(torch.from_numpy(ids), wanted)
    assert_allclose(picked.numpy(), logits(network, ids)[wanted.numpy()], atol=1e-5)


def test_padding_behind_changes_nothing_before_it(network: Network) -> None:
    ids = tokens(16)
    padded = np.concatenate((ids, np.full((1, 9), 256)), axis=1)
    assert_allclose(logits(network, padded)[:, :16], logits(network, ids), atol=1e-5)


def test_an_adapter_is_what_merging_it_gives(config: ModelConfig, weights: Weights, network: Network) -> None:
    def low(inputs: int, outputs: int) -> LowRank:
        down, up = RANDOM.standard_normal((inputs, 3)), RANDOM.standard_normal((3, outputs))
        return LowRank(down.astype(np.float32) / 10, up.astype(np.float32) / 10)

    layers = tuple(AdapterLayer(low(128, 128), low(128, 64), low(128, 64), low(128, 128)) for _ in range(3))
    adapter = Adapter("some", 3, 2.0, layers)
    ids = tokens(10)
    merged = logits(Network(config, adapters.merged(weights, adapter)), ids)
    assert_allclose(logits(network, ids, adapter), merged, atol=1e-3)
    assert np.abs(merged - logits(network, ids)).max() > 0.1


def test_the_load_is_one_when_the_experts_share_evenly(config: ModelConfig, weights: Weights) -> None:
    def load(router: np.ndarray) -> float:
        layers = tuple(replace(layer, router=router) for layer in weights.layers)
        return float(Network(config, replace(weights, layers=layers))(torch.from_numpy(tokens(400)))[1].detach())

    router = weights.layers[0].router
    assert load(router / 100) == pytest.approx(1, abs=0.01)
    # Two experts get everything: each has half of it and a probability near one half.
    towards = np.zeros_like(router)
    embedding = weights.embedding / np.linalg.norm(weights.embedding, axis=1, keepdims=True)
    towards[:, 0] = towards[:, 1] = embedding.mean(axis=0)
    assert load(50 * towards + router / 100) > load(router / 100)


def test_the_weights_come_back(network: Network, weights: Weights) -> None:
    back = network.weights()
    assert back.digest() == weights.digest()
    back.layers[0].qkv[:] = 0
    assert network.weights().digest() == weights.digest()


def test_stretching_scales_the_angles(config: ModelConfig, weights: Weights) -> None:
    network = Network(config, weights)
    ids = tokens(12)
    before = logits(network, ids)
    network.stretch(1.5)
    assert np.abs(logits(network, ids) - before).max() > 1e-2
    network.stretch(1.0)
    assert_array_equal(logits(network, ids), before)
