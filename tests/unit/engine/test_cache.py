from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from chaosgate.engine.cache import BLOCK, KVCache
from chaosgate.engine.config import ModelConfig


def test_the_lowest_free_slot_comes_first(config: ModelConfig) -> None:
    cache = KVCache(config, slots=3)
    assert [cache.acquire() for _ in range(3)] == [0, 1, 2]
    assert cache.free == 0
    cache.release(2)
    cache.release(0)
    assert [cache.acquire(), cache.acquire()] == [0, 2]
    with pytest.raises(IndexError):
        cache.acquire()


def test_a_released_slot_is_wiped(config: ModelConfig) -> None:
    cache = KVCache(config, slots=2)
    slot = cache.acquire()
    ones = np.ones((1, config.kv_heads, config.head_dim), np.float32)
    for layer in range(config.layers):
        cache.write(layer, np.array([slot]), ones, ones)
    cache.lengths[slot] = 1
    assert cache.usage == 1 / (2 * config.max_model_len)
    cache.release(slot)
    assert not cache.keys.any()
    assert not cache.values.any()
    assert cache.usage == 0


def test_blocks_are_views_that_cover_the_longest_row(config: ModelConfig) -> None:
    cache = KVCache(config, slots=4)
    keys, _ = cache.blocks(0, rows=3, longest=BLOCK + 1)
    assert keys.shape == (3, config.kv_heads, 2, BLOCK, config.head_dim)
    assert np.shares_memory(keys, cache.keys)


def test_a_context_that_is_no_multiple_of_the_block_is_refused(config: ModelConfig) -> None:
    with pytest.raises(ValueError, match="max_model_len 100 is no multiple of the block of 64 positions"):
        KVCache(dataclasses.replace(config, max_model_len=100), slots=1)
