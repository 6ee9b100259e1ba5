"""The same model as a bare numpy loop: what decoding costs without an engine around it.

One contiguous cache for a batch of equally long prompts, every expert computed for every row and weighted, one matrix
product over all rows: no blocks, no scheduler, no sites, no tokens that join or leave. It shares no code with the
engine beyond the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import LayerWeights, Weights

Array = np.ndarray[Any, np.dtype[np.float32]]


class BareLoop:
    """`rows` sequences of equal length; `feed` takes the next tokens of each and gives the logits behind the last."""

    def __init__(self, config: ModelConfig, weights: Weights, rows: int) -> None:
        self.config = config
        self.weights = weights
        self.length = 0
        shape = (config.layers, rows, config.kv_heads, config.max_model_len, config.head_dim)
        self.keys = np.zeros(shape, np.float32)
        self.values = np.zeros(shape, np.float32)
        frequencies = config.rope_theta ** (-np.arange(0, config.head_dim, 2) / config.head_dim)
        angles = np.arange(config.max_model_len)[:, None] * frequencies
        self.cos, self.sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)

    def feed(self, tokens: np.ndarray[Any, np.dtype[np.int64]]) -> Array:
        """Logits (rows, vocabulary) after `tokens` (rows, count)."""
        start, self.length = self.length, self.length + tokens.shape[1]
        x = self.weights.embedding[tokens]
        for index, layer in enumerate(self.weights.layers):
            x = x + self._attention(index, layer, self._norm(x, layer.attention_norm), start)
            x = x + self._experts(layer, self._norm(x, layer.expert_norm))
        return np.asarray(self._norm(x[:, -1], self.weights.final_norm) @ self.weights.head)

    def greedy(self, count: int, logits: Array) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The next `count` tokens of every row, (rows, count), after the `logits` that `feed` gave last."""
        drawn = []
        for _ in range(count):
            drawn.append(logits.argmax(-1)[:, None])
            logits = self.feed(drawn[-1])
        return np.concatenate(drawn, axis=1)

    def _norm(self, x: Array, scale: Array) -> Array:
        squares = np.einsum("...i,...i->...", x, x)[..., None]
        return np.asarray(x / np.sqrt(squares * np.float32(1 / x.shape[-1]) + np.float32(self.config.norm_eps)) * scale)

    def _attention(self, index: int, layer: LayerWeights, normed: Array, start: int) -> Array:
        config, end = self.config, self.length
        rows, count, _ = normed.shape
        heads = (normed @ layer.qkv).reshape(rows, count, -1, config.head_dim).transpose(0, 2, 1, 3)
        keys_at, values_at = config.heads, config.heads + config.kv_heads
        self.keys[index, :, :, start:end] = self._turn(heads[:, keys_at:values_at], start)
        self.values[index, :, :, start:end] = heads[:, values_at:]
        keys, values = self.keys[index, :, :, :end], self.values[index, :, :, :end]
        query = self._turn(heads[:, :keys_at], start) * np.float32(config.head_dim**-0.5)
        scores = query.reshape(rows, config.kv_heads, -1, config.head_dim) @ keys.swapaxes(-1, -2)
        if count > 1:
            later = np.arange(end) > np.arange(start, end)[:, None]
            scores = scores.reshape(rows, config.kv_heads, -1, count, end) + np.where(later, np.float32(-1e9), 0)
            scores = scores.reshape(rows, config.kv_heads, -1, end).astype(np.float32)
        exps = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = exps / exps.sum(-1, keepdims=True) @ values
        mixed = mixed.reshape(rows, config.heads, count, config.head_dim).transpose(0, 2, 1, 3)
        return np.asarray(mixed.reshape(rows, count, -1) @ layer.output)

    def _turn(self, x: Array, start: int) -> Array:
        cos, sin = self.cos[start : self.length], self.sin[start : self.length]
        half = x.shape[-1] // 2
        first, second = x[..., :half], x[..., half:]
        return np.concatenate((first * cos - second * sin, second * cos + first * sin), axis=-1)

    def _experts(self, layer: LayerWeights, x: Array) -> Array:
        config = self.config
        scores = x @ layer.router
        kept = np.sort(scores, -1)[..., -config.experts_per_token, None]
        shares = np.where(scores >= kept, np.exp(scores - scores.max(-1, keepdims=True)), np.float32(0))
        shares /= shares.sum(-1, keepdims=True)
        both = (x @ layer.gate_up).reshape(*x.shape[:-1], config.experts, 2, config.expert_ff)
        gate, up = both[..., 0, :], both[..., 1, :]
        hidden = gate / (1 + np.exp(-gate)) * up * shares[..., None]
        return np.asarray(hidden.reshape(*x.shape[:-1], -1) @ layer.down)
