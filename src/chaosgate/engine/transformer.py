"""The forward pass: Mixtral's architecture in numpy, float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from chaosgate.engine.cache import BLOCK, KVCache
from chaosgate.engine.config import ModelConfig
from chaosgate.engine.vocabulary import PAD
from chaosgate.engine.weights import Array, LayerWeights, Weights

ROW_TILE = 8
"""Rows of every matrix product with a weight.

A BLAS picks its kernel, and with it the order of summation, by the shape of the product, and some kernels also treat
rows of a partial tile differently from the others. With one small shape for all products a row's result does not depend
on how many requests share the batch or where in it the row lies, so that greedy text is the same at any concurrency.
"""

Attend = Callable[[int, Array, Array, Array], Array]


class Transformer:
    """The model over a `KVCache`. Not safe for use from two threads at once, as the cache is not."""

    def __init__(self, config: ModelConfig, weights: Weights) -> None:
        self.config = config
        self.weights = weights
        self._cos, self._sin = rope_tables(config)

    def prefill(self, cache: KVCache, slot: int, tokens: Sequence[int]) -> Array:
        """Logits, shape (vocabulary,), of the token after `tokens`, whose keys and values now fill the empty `slot`."""
        hidden = self._prompt(cache, slot, tokens)
        last = np.zeros((ROW_TILE, self.config.d_model), np.float32)
        last[0] = hidden[len(tokens) - 1]
        return np.asarray(self._logits(last)[0], np.float32)

    def prefill_all(self, cache: KVCache, slot: int, tokens: Sequence[int]) -> Array:
        """As `prefill`, but the logits after every prefix, shape (tokens, vocabulary)."""
        return self._logits(self._prompt(cache, slot, tokens))[: len(tokens)]

    def decode(self, cache: KVCache, slots: NDArray[np.int64], tokens: NDArray[np.int64]) -> Array:
        """Logits, shape (n, vocabulary), after one more token in each of `slots` (shape (n,), distinct, in use)."""
        rows = int(slots.max()) + 1
        by_slot = np.full(rows, PAD, np.int64)
        by_slot[slots] = tokens
        positions = cache.lengths[:rows].copy()
        # An unused slot between the others runs along as a dummy of length 1; nothing of it is kept.
        readable = positions + 1

        def attend(layer: int, query: Array, key: Array, value: Array) -> Array:
            cache.write(layer, slots, key[slots], value[slots])
            keys, values = cache.blocks(layer, rows, int(readable.max()))
            return attend_blocks(query, keys, values, readable)

        hidden = self._run(by_slot, positions, attend)
        cache.lengths[slots] += 1
        return self._logits(hidden)[slots]

    def _prompt(self, cache: KVCache, slot: int, tokens: Sequence[int]) -> Array:
        count = len(tokens)

        def attend(layer: int, query: Array, key: Array, value: Array) -> Array:
            cache.keys[layer, slot, :, :count] = key.swapaxes(0, 1)
            cache.values[layer, slot, :, :count] = value.swapaxes(0, 1)
            return attend_causal(query, key, value)

        hidden = self._run(np.asarray(tokens, np.int64), np.arange(count), attend)
        cache.lengths[slot] = count
        return hidden

    def _run(self, tokens: NDArray[np.int64], positions: NDArray[np.int64], attend: Attend) -> Array:
        """Hidden states, shape (rows, d_model), rows rounded up to whole tiles."""
        count = len(tokens)
        x = np.zeros((-(-count // ROW_TILE) * ROW_TILE, self.config.d_model), np.float32)
        x[:count] = self.weights.embedding[tokens]
        cos, sin = self._cos[positions, None], self._sin[positions, None]
        for index, layer in enumerate(self.weights.layers):
            query, key, value = self._heads(x, count, layer)
            mixed = attend(index, rotate(query, cos, sin), rotate(key, cos, sin), value)
            attended = np.zeros((len(x), mixed.shape[1] * mixed.shape[2]), np.float32)
            attended[:count] = mixed.reshape(count, -1)
            x = x + tiled(attended, layer.output)
            x = x + experts(self.config, layer, rms_norm(x, layer.expert_norm, self.config.norm_eps))
        return x

    def _heads(self, x: Array, count: int, layer: LayerWeights) -> tuple[Array, Array, Array]:
        config = self.config
        normed = rms_norm(x, layer.attention_norm, config.norm_eps)
        heads = tiled(normed, layer.qkv)[:count].reshape(count, -1, config.head_dim)
        keys_at, values_at = config.heads, config.heads + config.kv_heads
        return heads[:, :keys_at], heads[:, keys_at:values_at], heads[:, values_at:]

    def _logits(self, hidden: Array) -> Array:
        return tiled(rms_norm(hidden, self.weights.final_norm, self.config.norm_eps), self.weights.head)


def tiled(x: Array, weight: Array) -> Array:
    """`x @ weight` for whole tiles of rows, always in products of the same shape; see `ROW_TILE`."""
    tiles = x.reshape(-1, ROW_TILE, x.shape[-1])
    return np.asarray(np.matmul(tiles, weight).reshape(len(x), -1), np.float32)


def rms_norm(x: Array, scale: Array, eps: float) -> Array:
    """Each row divided by its root mean square, times `scale` (arXiv 1910.07467)."""
    mean = np.mean(x * x, axis=-1, keepdims=True)
    return np.asarray(x / np.sqrt(mean + np.float32(eps)) * scale, np.float32)


def rope_tables(config: ModelConfig) -> tuple[Array, Array]:
    """Cosine and sine, each (max_model_len, head_dim / 2), of position * theta^(-2i / head_dim) (arXiv 2104.09864)."""
    frequencies = config.rope_theta ** (-np.arange(0, config.head_dim, 2) / config.head_dim)
    angles = np.arange(config.max_model_len)[:, None] * frequencies
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotate(x: Array, cos: Array, sin: Array) -> Array:
    """Rotary embedding of (..., head_dim), pairing element i with i + head_dim / 2 as Llama and Mixtral do."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return np.concatenate((first * cos - second * sin, second * cos + first * sin), axis=-1)


def attend_causal(query: Array, key: Array, value: Array) -> Array:
    """Attention of a whole prompt to itself.

    `query` is (n, heads, head_dim), `key` and `value` (n, kv_heads, head_dim); neighbouring query heads share a
    key/value head (grouped-query attention, arXiv 2305.13245). The result has the shape of `query`.
    """
    count, heads, dim = query.shape
    groups = key.shape[1]
    queries = query.reshape(count, groups, -1, dim).transpose(1, 2, 0, 3) * np.float32(dim**-0.5)
    scores = queries @ key.transpose(1, 2, 0)[:, None]
    scores = np.where(np.tri(count, dtype=bool), scores, np.float32(-np.inf))
    weights = softmax(np.asarray(scores, np.float32))
    mixed = weights @ value.swapaxes(0, 1)[:, None]
    return np.asarray(mixed.transpose(2, 0, 1, 3).reshape(count, heads, dim), np.float32)


def attend_blocks(query: Array, keys: Array, values: Array, lengths: NDArray[np.int64]) -> Array:
    """Attention of one new position in each row to that row's first `lengths[row]` cached positions.

    `query` is (rows, heads, head_dim), the cache comes as `KVCache.blocks` gives it. Products have the size of one
    block and blocks are added one after the other, so that the blocks a longer neighbour needs add exact zeros here:
    a row's result does not depend on its neighbours.
    """
    rows, heads, dim = query.shape
    groups, count = keys.shape[1:3]
    queries = query.reshape(rows, groups, 1, heads // groups, dim) * np.float32(dim**-0.5)
    scores = queries @ keys.swapaxes(-1, -2)
    readable = np.arange(count * BLOCK).reshape(count, 1, BLOCK) < lengths[:, None, None, None, None]
    scores = np.where(readable, scores, np.float32(-np.inf))
    exps = np.exp(scores - scores.max(axis=(2, 4), keepdims=True))
    mixed = _add_blocks(exps @ values) / _add_blocks(exps.sum(axis=-1, keepdims=True))
    return np.asarray(mixed.reshape(rows, heads, dim), np.float32)


def _add_blocks(parts: Array) -> Array:
    # Not np.sum: it sums pairwise, and in another order as the number of blocks grows.
    total = parts[:, :, 0].copy()
    for block in range(1, parts.shape[2]):
        total += parts[:, :, block]
    return total


def softmax(x: Array) -> Array:
    """Over the last axis."""
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(exps / exps.sum(axis=-1, keepdims=True), np.float32)


def route(logits: Array, kept: int) -> Array:
    """Weight of each expert for each row, shape (rows, experts): softmax over the `kept` largest logits, else 0.

    Equals the full softmax renormalised over the kept ones (Mixtral, section 2.1). Of equal logits the lower index
    wins.
    """
    chosen = np.argsort(-logits, axis=-1, kind="stable")[:, :kept]
    weights = np.zeros_like(logits)
    np.put_along_axis(weights, chosen, softmax(np.take_along_axis(logits, chosen, -1)), -1)
    return weights


def experts(config: ModelConfig, layer: LayerWeights, x: Array) -> Array:
    """The mixture of SwiGLU experts on `x` (rows, d_model): sum over experts of weight * down(silu(gate) * up)."""
    weights = route(tiled(x, layer.router), config.experts_per_token)
    # All experts are computed and weighted, the unchosen by 0: same sum, and at this size one wide product is faster
    # than gathering rows for each expert.
    projected = tiled(x, layer.gate_up).reshape(len(x), config.experts, 2, config.expert_ff)
    gate, up = projected[:, :, 0], projected[:, :, 1]
    hidden = gate / (1 + np.exp(-gate)) * up * weights[..., None]
    return tiled(np.asarray(hidden.reshape(len(x), -1), np.float32), layer.down)
