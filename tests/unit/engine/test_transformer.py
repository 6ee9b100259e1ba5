from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from chaosgate.engine import transformer
from chaosgate.engine.cache import BLOCK, KVCache
from chaosgate.engine.config import ModelConfig
from chaosgate.engine.transformer import Transformer
from chaosgate.engine.weights import Weights

from . import reference

RANDOM = np.random.default_rng(5)


def prompt(count: int, seed: int = 0) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(0, 512, count)]


def grown(model: Transformer, tokens: list[int], start: int) -> np.ndarray:
    """Logits after each prefix from `start` on: prefill, then one decoding step a token."""
    cache = KVCache(model.config, slots=1)
    rows = [model.prefill(cache, cache.acquire(), tokens[:start])]
    for token in tokens[start:]:
        rows.append(model.decode(cache, np.array([0]), np.array([token]))[0])
    return np.array(rows)


def test_equals_an_independent_mixtral(config: ModelConfig, weights: Weights, model: Transformer) -> None:
    tokens = prompt(20)
    cache = KVCache(config, slots=1)
    ours = model.prefill_all(cache, cache.acquire(), tokens)
    assert_allclose(ours, reference.logits(config, weights, tokens), atol=2e-4)


@pytest.mark.parametrize("start", [1, BLOCK - 1, BLOCK, BLOCK + 3])
def test_prefill_and_decode_equal_one_full_pass(model: Transformer, start: int) -> None:
    tokens = prompt(2 * BLOCK + 5)
    cache = KVCache(model.config, slots=1)
    full = model.prefill_all(cache, cache.acquire(), tokens)
    assert_allclose(grown(model, tokens, start), full[start - 1 :], atol=2e-4)


def test_a_later_token_does_not_change_an_earlier_row(model: Transformer) -> None:
    tokens = prompt(30)
    cache = KVCache(model.config, slots=2)
    first = model.prefill_all(cache, cache.acquire(), tokens)
    second = model.prefill_all(cache, cache.acquire(), [*tokens[:-1], (tokens[-1] + 1) % 512])
    assert_allclose(first[:-1], second[:-1], atol=1e-5)
    assert np.abs(first[-1] - second[-1]).max() > 0.1


def test_a_row_is_bit_equal_alone_and_in_any_batch(model: Transformer) -> None:
    lengths = [3, 70, 12, 200, 64, 1, 30, 9, 128, 17, 5]
    alone = []
    for seed, length in enumerate(lengths):
        cache = KVCache(model.config, slots=1)
        model.prefill(cache, cache.acquire(), prompt(length, seed))
        alone.append(model.decode(cache, np.array([0]), np.array([seed]))[0])
    order = RANDOM.permutation(len(lengths))
    cache = KVCache(model.config, slots=len(lengths))
    for seed in order:
        model.prefill(cache, cache.acquire(), prompt(lengths[seed], int(seed)))
    together = model.decode(cache, np.arange(len(lengths)), order)
    assert_array_equal(together, np.array(alone)[order])


def test_unused_slots_between_busy_ones_change_nothing(model: Transformer) -> None:
    cache = KVCache(model.config, slots=6)
    for slot in range(6):
        assert cache.acquire() == slot
        model.prefill(cache, slot, prompt(10 + slot, slot))
    before = cache.keys.copy()
    picked = model.decode(cache, np.array([4, 1]), np.array([7, 8]))
    assert_array_equal(before[:, [0, 2, 3, 5]], cache.keys[:, [0, 2, 3, 5]])
    assert cache.lengths.tolist() == [10, 12, 12, 13, 15, 15]
    alone = KVCache(model.config, slots=1)
    model.prefill(alone, alone.acquire(), prompt(14, 4))
    assert_array_equal(picked[0], model.decode(alone, np.array([0]), np.array([7]))[0])


def test_two_experts_share_the_weight() -> None:
    logits = RANDOM.standard_normal((50, 8), dtype=np.float32)
    weights = transformer.route(logits, 2)
    assert (np.count_nonzero(weights, axis=1) == 2).all()
    assert_allclose(weights.sum(axis=1), 1, atol=1e-6)
    best = np.argsort(logits, axis=1)[:, -2:]
    assert (np.take_along_axis(weights, best, 1) > 0).all()


def test_equal_router_logits_still_keep_two() -> None:
    assert_allclose(transformer.route(np.zeros((1, 8), np.float32), 2), [[0.5, 0.5, 0, 0, 0, 0, 0, 0]])


def test_rope_scores_depend_on_distance_alone(config: ModelConfig) -> None:
    cos, sin = transformer.rope_tables(config)
    query, key = RANDOM.standard_normal((2, config.head_dim), dtype=np.float32)

    def score(at: int, other: int) -> float:
        turned = transformer.rotate(query, cos[at], sin[at])
        return float(turned @ transformer.rotate(key, cos[other], sin[other]))

    assert score(9, 4) == pytest.approx(score(905, 900), abs=1e-4)
    assert score(9, 4) != pytest.approx(score(9, 5), abs=1e-2)
    assert_array_equal(transformer.rotate(query, cos[0], sin[0]), query)


def test_two_query_heads_read_one_key_value_head() -> None:
    query = RANDOM.standard_normal((5, 4, 32), dtype=np.float32)
    key, value = RANDOM.standard_normal((2, 5, 2, 32), dtype=np.float32)
    mixed = transformer.attend_causal(query, key, value)
    assert mixed.shape == (5, 4, 32)
    changed = value.copy()
    changed[:, 1] += 1
    moved = np.abs(transformer.attend_causal(query, key, changed) - mixed).max(axis=(0, 2)) > 0.5
    assert moved.tolist() == [False, False, True, True]


def test_rms_norm_gives_unit_mean_square() -> None:
    x = 30 * RANDOM.standard_normal((8, 128), dtype=np.float32)
    normed = transformer.rms_norm(x, np.ones(128, np.float32), 1e-5)
    assert_allclose((normed**2).mean(axis=1), 1, atol=1e-5)
