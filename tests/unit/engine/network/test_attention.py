from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from chaosgate.engine.network.attention import TILE, KVPool, attend, mask
from chaosgate.engine.network.config import ModelConfig

RANDOM = np.random.default_rng(5)


def drawn(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape, dtype=np.float32)


def plainly(query: np.ndarray, keys: np.ndarray, values: np.ndarray, length: int) -> np.ndarray:
    """One row's attention in float64, head by head."""
    heads, dim = query.shape
    mixed = []
    for head in range(heads):
        group = head // (heads // keys.shape[1])
        scores = keys[:length, group].astype(float) @ query[head] / dim**0.5
        weights = np.exp(scores - scores.max())
        mixed.append(weights @ values[:length, group] / weights.sum())
    return np.array(mixed)


@pytest.mark.parametrize("length", [1, TILE - 1, TILE, TILE + 1, 3 * TILE])
def test_equals_plain_attention(length: int) -> None:
    query, keys, values = drawn(1, 4, 32), drawn(1, 3, TILE, 2, 32), drawn(1, 3, TILE, 2, 32)
    mixed = attend(query, keys, values, mask(np.array([length]), 3))
    expected = plainly(query[0], keys.reshape(-1, 2, 32), values.reshape(-1, 2, 32), length)
    assert_allclose(mixed[0], expected, atol=1e-5)


def test_what_lies_behind_the_length_changes_no_bit() -> None:
    query, keys, values = drawn(2, 4, 32), drawn(2, 2, TILE, 2, 32), drawn(2, 2, TILE, 2, 32)
    lengths = np.array([5, TILE + 9])
    before = attend(query, keys, values, mask(lengths, 2))
    keys[0, 0, 5:], values[0, 0, 5:], keys[0, 1], values[0, 1] = 9, 9, 9, 9
    assert_array_equal(attend(query, keys, values, mask(lengths, 2)), before)
    assert_array_equal(attend(query[:1], keys[:1, :1], values[:1, :1], mask(lengths[:1], 1)), before[:1])


def test_one_entry_of_keys_serves_all_rows() -> None:
    query, keys, values = drawn(3, 4, 32), drawn(1, 1, TILE, 2, 32), drawn(1, 1, TILE, 2, 32)
    masked = mask(np.array([7, 8, 9]), 1)
    apart = attend(query, np.repeat(keys, 3, 0), np.repeat(values, 3, 0), masked)
    assert_array_equal(attend(query, keys, values, masked), apart)


def test_scores_can_be_changed_before_the_mask() -> None:
    query, keys, values = drawn(2, 4, 32), drawn(1, 1, TILE, 2, 32), drawn(1, 1, TILE, 2, 32)
    masked = mask(np.array([3, 4]), 1)
    seen = []

    def first_head_reads_position_two(scores: np.ndarray) -> np.ndarray:
        seen.append(scores.shape)
        changed = scores.copy()
        changed[0, :, 2] += 1e4
        return changed

    plain = attend(query, keys, values, masked)
    changed = attend(query, keys, values, masked, first_head_reads_position_two)
    assert seen == [(4, 2, TILE)]
    assert_allclose(changed[:, 0], [values[0, 0, 2, 0]] * 2, atol=1e-6)
    assert_array_equal(changed[:, 1:], plain[:, 1:])


def test_a_pool_gives_back_what_was_written_in_the_order_of_the_table(config: ModelConfig) -> None:
    pool = KVPool(config, blocks=20, block_size=16)
    cells = drawn(40, 2, config.kv_heads, config.head_dim)
    table = np.array([3, 9, 7, *[pool.empty] * 5])
    positions = np.arange(40)
    pool.write(1, table[positions // 16] * 16 + positions % 16, cells)
    keys, values = pool.read(1, table[None])
    assert keys.shape == (1, 1, TILE, config.kv_heads, config.head_dim)
    assert_array_equal(keys[0, 0, :40], cells[:, 0])
    assert_array_equal(values[0, 0, :40], cells[:, 1])
    assert not keys[0, 0, 40:].any()
    assert not pool.read(0, table[None])[0].any()
    pool.wipe([9])
    assert pool.cells[1, 3].any()
    assert not pool.cells[:, 9].any()


def test_tables_are_filled_up_to_whole_tiles(config: ModelConfig) -> None:
    pool = KVPool(config, blocks=4, block_size=16)
    assert [pool.columns(blocks) for blocks in (1, 8, 9, 64)] == [8, 8, 16, 64]


def test_a_block_size_that_does_not_divide_a_tile_is_refused(config: ModelConfig) -> None:
    with pytest.raises(
        ValueError, match="block_size 24 does not divide the 128 positions that attention reads at once"
    ):
        KVPool(config, blocks=4, block_size=24)
