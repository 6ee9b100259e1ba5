from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import Weights, initial
from chaosgate.engine.training.start import start

from ..network import reference


@pytest.fixture(scope="module")
def begun(config: ModelConfig) -> Weights:
    return start(config, 3)


def looks(config: ModelConfig, weights: Weights, head: int, tokens: np.ndarray) -> np.ndarray:
    """Attention of one head of the first layer, shape (tokens, tokens)."""
    size = config.head_dim
    x = weights.embedding[tokens].astype(float)
    x /= np.sqrt((x**2).mean(1, keepdims=True))
    projected = x @ weights.layers[0].qkv
    shared = config.heads * size + head // 2 * size
    queries = [reference.rope(config, row[head * size :][:size], at) for at, row in enumerate(projected)]
    keys = [reference.rope(config, row[shared:][:size], at) for at, row in enumerate(projected)]
    scores = np.tril(np.exp(np.array(queries) @ np.array(keys).T / size**0.5))
    return np.asarray(scores / scores.sum(1, keepdims=True))


def test_one_head_looks_at_the_token_before(config: ModelConfig, begun: Weights) -> None:
    tokens = np.random.default_rng(1).integers(0, 512, 80)
    before = [np.diagonal(looks(config, begun, head, tokens), -1).mean() for head in range(4)]
    assert before[0] > 0.7
    assert max(before[1:]) < 0.2


def test_without_it_no_head_does(config: ModelConfig) -> None:
    tokens = np.random.default_rng(1).integers(0, 512, 80)
    assert np.diagonal(looks(config, initial(config, 3), 0, tokens), -1).mean() < 0.2


def test_every_embedding_shares_one_direction_that_no_router_sees(begun: Weights) -> None:
    mean = begun.embedding.mean(axis=0)
    common = mean / np.linalg.norm(mean)
    assert_allclose(begun.embedding @ common, 0.3 * 128**0.5, atol=1.5)
    for layer in begun.layers:
        assert np.abs(common @ layer.router).max() < 0.1


def test_the_rest_is_as_random_as_ever(config: ModelConfig, begun: Weights) -> None:
    plain = initial(config, 3)
    assert_array_equal(begun.layers[0].qkv[:, 32:128], plain.layers[0].qkv[:, 32:128])
    assert_array_equal(begun.layers[0].qkv[:, 160:], plain.layers[0].qkv[:, 160:])
    for ours, theirs in zip(begun.layers[1:], plain.layers[1:], strict=True):
        assert_array_equal(ours.qkv, theirs.qkv)
    assert_array_equal(begun.head, plain.head)


def test_another_seed_is_another_start(config: ModelConfig, begun: Weights) -> None:
    assert start(config, 3).digest() == begun.digest()
    starts = [begun, *(start(config, seed) for seed in (4, 5))]
    assert all(one.digest() != other.digest() for one, other in pairwise(starts))


def test_all_stays_float32(begun: Weights) -> None:
    assert {array.dtype for _, array in begun.named()} == {np.dtype(np.float32)}
