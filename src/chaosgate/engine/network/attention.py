"""Attention over keys and values that lie in blocks of a shared pool (arXiv 2309.06180, section 4).

Every product here has one row and one fixed shape: a query head against TILE positions. A BLAS picks its kernel, and
with it the order of summation, by the shape of a product, so that with a fixed shape nothing that a row reads depends
on who else is in the batch, on how its prompt was cut into parts, or on which of its blocks were found in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.stored import Array, Ints

TILE = 128
"""Positions that one product covers; shorter contexts are filled up with positions of weight 0."""

ROWS_AT_ONCE = 64
"""Prompt rows that attend together: the scores of more would not fit into a core's cache."""

Scores = Callable[[Array], Array]
"""Changes the scores (heads, tokens, positions) of one request."""


class KVPool:
    """`blocks` blocks of `block_size` positions for every layer, zero at first; memory never written is not resident.

    `cells` has the shape (layers, blocks + 1, block_size, 2, kv_heads, head_dim), a key [0] and a value [1] for each
    position. The block after the last, `empty`, stays zero: it fills up tables.
    """

    def __init__(self, config: ModelConfig, blocks: int, block_size: int) -> None:
        if TILE % block_size:
            raise ValueError(
                f"block_size {block_size} does not divide the {TILE} positions that attention reads at once"
            )
        self.cells: Array = np.zeros(
            (config.layers, blocks + 1, block_size, 2, config.kv_heads, config.head_dim), np.float32
        )
        self.empty = blocks
        self.block_size = block_size
        self._by_position = self.cells.reshape(config.layers, -1, 2, config.kv_heads, config.head_dim)
        self._read = np.empty(0, np.float32)

    def columns(self, blocks: int) -> int:
        """The smallest number of blocks from `blocks` on that makes whole tiles."""
        tile = TILE // self.block_size
        return -(-blocks // tile) * tile

    def wipe(self, blocks: list[int]) -> None:
        """Zeroes blocks: nothing of one request may reach the next, not even through a masked position."""
        self.cells[:, blocks] = 0

    def write(self, layer: int, places: Ints, cells: Array) -> None:
        """Puts row i of `cells` (rows, 2, kv_heads, head_dim) at `places[i]`, which is block * block_size + offset."""
        self._by_position[layer, places] = cells

    def read(self, layer: int, tables: Ints) -> tuple[Array, Array]:
        """Keys and values under `tables` (n, blocks), each (n, tiles, TILE, kv_heads, head_dim).

        They are copied into memory that the next call uses again.
        """
        block = self.cells.shape[2:]
        size = tables.size * math.prod(block)
        if len(self._read) < size:
            self._read = np.empty(size, np.float32)
        cells = self._read[:size].reshape(*tables.shape, *block)
        # Every id is in range, which is checked where tables are made; "clip" takes without a copy in between.
        np.take(self.cells[layer], tables, axis=0, out=cells, mode="clip")
        tiles = cells.reshape(len(tables), -1, TILE, *block[1:])
        return tiles[:, :, :, 0], tiles[:, :, :, 1]


def mask(lengths: Ints, tiles: int) -> Array:
    """What is added to scores: 0 for the first `lengths[row]` positions, -inf behind; (rows, 1, 1, tiles, 1, TILE)."""
    readable = np.arange(tiles * TILE) < lengths[:, None]
    return np.where(readable, np.float32(0), np.float32(-np.inf)).reshape(len(lengths), 1, 1, tiles, 1, TILE)


def attend(query: Array, keys: Array, values: Array, masked: Array, change: Scores | None = None) -> Array:
    """What each query head reads, in the shape of `query`: (rows, heads, head_dim).

    `keys` and `values` come from `KVPool.read`, one entry a row or one for all rows; `masked` from `mask`. Neighbouring
    query heads share a key/value head (grouped-query attention, arXiv 2305.13245). `change` is given the scores before
    the mask, (heads, rows, positions) with the fill.
    """
    rows, heads, dim = query.shape
    groups = keys.shape[3]
    queries = (query * np.float32(dim**-0.5)).reshape(rows, groups, heads // groups, 1, 1, dim)
    scores: Array = np.matmul(queries, keys.transpose(0, 3, 1, 4, 2)[:, :, None])
    if change is not None:
        scores = _changed(scores, change)
    scores += masked
    by_head = scores.reshape(rows, heads, -1)
    np.subtract(by_head, by_head.max(axis=-1, keepdims=True), out=by_head)
    exps: Array = np.exp(scores, out=scores)
    mixed = _add_tiles(exps @ values.transpose(0, 3, 1, 2, 4)[:, :, None])
    return np.asarray((mixed / _add_tiles(np.add.reduce(exps, axis=-1, keepdims=True))).reshape(rows, heads, dim))


def _changed(scores: Array, change: Scores) -> Array:
    rows, groups, shared, tiles, _, size = scores.shape
    by_head = scores.reshape(rows, groups * shared, tiles * size).swapaxes(0, 1)
    return np.ascontiguousarray(change(by_head).swapaxes(0, 1)).reshape(scores.shape)


def _add_tiles(parts: Array) -> Array:
    # Not np.sum: it sums pairwise, and in another order as the number of tiles grows. A tile of weight 0 adds exact
    # zeros this way.
    total = parts[:, :, :, 0]
    for tile in range(1, parts.shape[3]):
        total = total + parts[:, :, :, tile]
    return total
