from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from chaosgate.engine.network import transformer
from chaosgate.engine.network.adapters import Adapter, AdapterLayer, LowRank, merged
from chaosgate.engine.network.attention import TILE, Ints, KVPool
from chaosgate.engine.network.batch import Batch, whole
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.network.weights import Weights

from . import reference

RANDOM = np.random.default_rng(5)


def prompt(count: int, seed: int = 0) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(0, 512, count)]


def all_logits(model: Transformer, pool: KVPool, tokens: list[int]) -> np.ndarray:
    return model.logits(model.hidden(pool, whole(pool, tokens)))


def in_parts(model: Transformer, tokens: list[int], cuts: list[int]) -> tuple[np.ndarray, KVPool]:
    """Logits after the last token of each part, and the pool afterwards."""
    pool = KVPool(model.config, 64, 16)
    table = whole(pool, tokens).tables
    rows = []
    for start, end in zip([0, *cuts], [*cuts, len(tokens)], strict=True):
        part = Batch(np.array(tokens[start:end]), np.arange(start, end), table, (0, end - start), int(end - start == 1))
        rows.append(model.forward(pool, part, [0])[0])
    return np.array(rows), pool


def decoding(tables: Ints, tokens: list[int], positions: list[int]) -> Batch:
    count = len(tokens)
    return Batch(np.array(tokens), np.array(positions), tables, range(count + 1), count)


def test_equals_an_independent_mixtral(config: ModelConfig, weights: Weights, model: Transformer) -> None:
    tokens = prompt(20)
    ours = all_logits(model, KVPool(config, 8, 16), tokens)
    assert_allclose(ours, reference.logits(config, weights, tokens), atol=2e-4)


@pytest.mark.parametrize("start", [1, 16, TILE - 1, TILE, TILE + 3])
def test_a_prompt_is_bit_equal_in_one_part_in_two_and_token_by_token(model: Transformer, start: int) -> None:
    tokens = prompt(TILE + 30)
    pool = KVPool(model.config, 64, 16)
    full = all_logits(model, pool, tokens)
    two, other = in_parts(model, tokens, [start])
    assert_array_equal(two, full[[start - 1, -1]])
    assert_array_equal(other.cells, pool.cells)
    grown, _ = in_parts(model, tokens, list(range(start, len(tokens))))
    assert_array_equal(grown, full[start - 1 :])


def test_a_later_token_does_not_change_an_earlier_row(model: Transformer) -> None:
    tokens = prompt(30)
    first = all_logits(model, KVPool(model.config, 8, 16), tokens)
    second = all_logits(model, KVPool(model.config, 8, 16), [*tokens[:-1], (tokens[-1] + 1) % 512])
    assert_array_equal(first[:-1], second[:-1])
    assert np.abs(first[-1] - second[-1]).max() > 0.1


def test_a_row_is_bit_equal_alone_and_in_any_batch(model: Transformer) -> None:
    lengths = [3, 70, 12, 200, 64, 1, 30, 9, 128, 17, 5]
    pool = KVPool(model.config, 16 * len(lengths), 16)
    tables = RANDOM.permutation(16 * len(lengths)).reshape(len(lengths), 16)
    alone = []
    for seed, length in enumerate(lengths):
        tokens = prompt(length, seed)
        model.hidden(pool, Batch(np.array(tokens), np.arange(length), tables[seed : seed + 1], (0, length), 0))
    kept = pool.cells.copy()
    for seed, length in enumerate(lengths):
        alone.append(model.forward(pool, decoding(tables[seed : seed + 1], [seed], [length]), [0])[0])
    pool.cells[:] = kept
    order = RANDOM.permutation(len(lengths))
    batch = decoding(tables[order], list(order), [lengths[index] for index in order])
    assert_array_equal(model.forward(pool, batch, range(len(lengths))), np.array(alone)[order])


def test_singles_and_parts_of_prompts_share_a_step(model: Transformer) -> None:
    pool = KVPool(model.config, 24, 16)
    tables = np.arange(24).reshape(3, 8)
    first, second, third = prompt(20, 1), prompt(50, 2), prompt(90, 3)
    model.hidden(pool, Batch(np.array(first), np.arange(20), tables[:1], (0, 20), 0))
    positions = np.concatenate(([20], np.arange(50), np.arange(90)))
    mixed = Batch(np.array([7, *second, *third]), positions, tables, (0, 1, 51, 141), 1)
    together = model.forward(pool, mixed, [0, 2])
    assert_array_equal(together[0], in_parts(model, [*first, 7], [20])[0][1])
    assert_array_equal(together[1], all_logits(model, KVPool(model.config, 8, 16), third)[-1])


def adapter(config: ModelConfig, name: str, seed: int) -> Adapter:
    random = np.random.default_rng(seed)

    def low(outputs: int) -> LowRank:
        down = random.standard_normal((config.d_model, 4), dtype=np.float32) * np.float32(0.1)
        return LowRank(down, random.standard_normal((4, outputs), dtype=np.float32) * np.float32(0.1))

    queries, keys = config.heads * config.head_dim, config.kv_heads * config.head_dim
    layers = tuple(AdapterLayer(low(queries), low(keys), low(keys), low(config.d_model)) for _ in range(config.layers))
    return Adapter(name, 4, 2.0, layers)


def test_an_adapter_equals_weights_with_it_merged_and_leaves_neighbours_alone(
    config: ModelConfig, weights: Weights, model: Transformer
) -> None:
    one, other = adapter(config, "one", 1), adapter(config, "other", 2)
    tokens = prompt(40)
    pool = KVPool(config, 24, 16)
    tables = np.arange(24).reshape(3, 8)
    batch = Batch(np.array(3 * tokens), np.tile(np.arange(40), 3), tables, (0, 40, 80, 120), 0, (one, None, other))
    logits = model.forward(pool, batch, [0, 1, 2])
    plain = all_logits(model, KVPool(config, 8, 16), tokens)[-1]
    assert_array_equal(logits[1], plain)
    for row, used in ((0, one), (2, other)):
        expected = all_logits(Transformer(config, merged(weights, used)), KVPool(config, 8, 16), tokens)[-1]
        assert_allclose(logits[row], expected, atol=5e-4)
        assert np.abs(logits[row] - plain).max() > 0.1


def test_rope_scores_depend_on_distance_alone(config: ModelConfig) -> None:
    query, key = RANDOM.standard_normal((2, 1, 1, config.head_dim), dtype=np.float32)

    def turned(x: np.ndarray, at: int) -> np.ndarray:
        angles = np.array([at])[:, None] * transformer.rope_frequencies(config)
        return transformer.rotate(x, transformer.turning(angles))[0, 0]

    def score(at: int, other: int) -> float:
        return float(turned(query, at) @ turned(key, other))

    assert score(9, 4) == pytest.approx(score(905, 900), abs=1e-4)
    assert score(9, 4) != pytest.approx(score(9, 5), abs=1e-2)
    assert_array_equal(turned(query, 0), query[0, 0])


def test_rope_pairs_an_element_with_the_one_half_a_head_away(config: ModelConfig) -> None:
    x = np.zeros((1, 1, config.head_dim), np.float32)
    x[0, 0, 3] = 1
    angle = 5 * transformer.rope_frequencies(config)[3]
    turned = transformer.rotate(x, transformer.turning(5 * transformer.rope_frequencies(config)[None]))[0, 0]
    expected = np.zeros(config.head_dim)
    expected[3], expected[3 + config.head_dim // 2] = np.cos(angle), np.sin(angle)
    assert_allclose(turned, expected, atol=1e-6)


def test_the_context_reaches_to_its_last_position(config: ModelConfig, weights: Weights) -> None:
    short = Transformer(dataclasses.replace(config, max_model_len=100), weights)
    pool = KVPool(short.config, 8, 16)
    assert np.isfinite(all_logits(short, pool, prompt(100))).all()
    with pytest.raises(IndexError):
        all_logits(short, pool, prompt(101))
