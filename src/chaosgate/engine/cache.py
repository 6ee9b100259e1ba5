"""Keys and values of the running requests."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from chaosgate.engine.config import ModelConfig
from chaosgate.engine.weights import Array

BLOCK = 64
"""Positions that attention reads at a time; `max_model_len` is a multiple of it."""


class KVCache:
    """One slot a request, each long enough for `max_model_len` positions.

    `keys` and `values` have the shape (layers, slots, kv_heads, positions, head_dim); `lengths[slot]` positions are
    written. Memory that was never written is not resident.
    """

    def __init__(self, config: ModelConfig, slots: int) -> None:
        if config.max_model_len % BLOCK:
            raise ValueError(f"max_model_len {config.max_model_len} is no multiple of the block of {BLOCK} positions")
        shape = (config.layers, slots, config.kv_heads, config.max_model_len, config.head_dim)
        self.keys: Array = np.zeros(shape, np.float32)
        self.values: Array = np.zeros(shape, np.float32)
        self.lengths: NDArray[np.int64] = np.zeros(slots, np.int64)
        self._free = list(range(slots))

    @property
    def free(self) -> int:
        """Slots that no request holds."""
        return len(self._free)

    @property
    def usage(self) -> float:
        """Share of all positions that is written, 0 to 1."""
        return int(self.lengths.sum()) / (self.lengths.size * int(self.keys.shape[3]))

    def acquire(self) -> int:
        """The lowest free slot, which keeps the busy slots together at the front; IndexError when none is free."""
        return heapq.heappop(self._free)

    def release(self, slot: int) -> None:
        """Gives `slot` back, wiped: nothing of one request may reach the next, not even through a masked position."""
        used = self.lengths[slot]
        self.keys[:, slot, :, :used] = 0
        self.values[:, slot, :, :used] = 0
        self.lengths[slot] = 0
        heapq.heappush(self._free, slot)

    def write(self, layer: int, slots: NDArray[np.int64], keys: Array, values: Array) -> None:
        """Puts one position (shape (n, kv_heads, head_dim)) behind what each of `slots` holds, in one layer."""
        at = self.lengths[slots]
        self.keys[layer][slots, :, at] = keys
        self.values[layer][slots, :, at] = values

    def blocks(self, layer: int, rows: int, longest: int) -> tuple[Array, Array]:
        """Views of the first `rows` slots up to position `longest`, cut into blocks.

        Shape (rows, kv_heads, blocks, BLOCK, head_dim), for keys and for values.
        """
        count = -(-longest // BLOCK)
        _, _, heads, positions, dim = self.keys.shape
        shape = (rows, heads, positions // BLOCK, BLOCK, dim)
        return (
            self.keys[layer, :rows].reshape(shape)[:, :, :count],
            self.values[layer, :rows].reshape(shape)[:, :, :count],
        )
