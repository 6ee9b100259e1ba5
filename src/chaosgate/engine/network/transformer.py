"""The forward pass: Mixtral's architecture in numpy, float32."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chaosgate.engine.network.adapters import LowRank
from chaosgate.engine.network.attention import KVPool
from chaosgate.engine.network.batch import Batch
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.experts import Experts
from chaosgate.engine.network.products import rms_norm, rowwise
from chaosgate.engine.network.reading import Reading
from chaosgate.engine.network.sites import Tap
from chaosgate.engine.network.stored import Array
from chaosgate.engine.network.weights import LayerWeights, Weights


class Transformer:
    """The model. It holds no state of a request: keys and values are in the `KVPool` that each call is given."""

    def __init__(self, config: ModelConfig, weights: Weights) -> None:
        self.config = config
        self.weights = weights
        self._frequencies = rope_frequencies(config)
        angles = np.arange(config.max_model_len)[:, None] * self._frequencies
        self._turns = turning(angles)
        self._experts = [Experts(config, layer, index) for index, layer in enumerate(weights.layers)]

    def forward(self, pool: KVPool, batch: Batch, wanted: Sequence[int]) -> Array:
        """Logits, shape (len(wanted), vocabulary), of the token after the last row of each of the requests `wanted`.

        The keys and values of all rows are in the pool afterwards.
        """
        with np.errstate(over="ignore", invalid="warn" if batch.tap is None else "ignore"):
            hidden = self.hidden(pool, batch)[[batch.starts[index + 1] - 1 for index in wanted]]
            return self._head(hidden, batch.tap, wanted)

    def hidden(self, pool: KVPool, batch: Batch) -> Array:
        """The residual stream behind the last layer, shape (rows, d_model)."""
        x = self.weights.embedding[batch.tokens]
        if batch.tap is not None:
            x = batch.tap.rows("embedding", x)
        reading = Reading(pool, batch)
        for index, layer in enumerate(self.weights.layers):
            normed = rms_norm(x, layer.attention_norm, self.config.norm_eps)
            x = x + self._attention(index, layer, normed, batch, reading)
            x = x + self._experts[index](rms_norm(x, layer.expert_norm, self.config.norm_eps), batch.tap)
        return x

    def logits(self, hidden: Array) -> Array:
        """Logits (rows, vocabulary) of rows of `hidden`."""
        return rowwise(self.normed(hidden), self.weights.head)

    def normed(self, hidden: Array) -> Array:
        """Rows of `hidden` as the head reads them."""
        return rms_norm(hidden, self.weights.final_norm, self.config.norm_eps)

    def _head(self, hidden: Array, tap: Tap | None, wanted: Sequence[int]) -> Array:
        normed = self.normed(hidden)
        if tap is not None:
            for row, index in tap.among(wanted, "head"):
                normed[row] = tap.call(index, "head", normed[row : row + 1], last=True)[0]
        logits = rowwise(normed, self.weights.head)
        if tap is not None:
            for row, index in tap.among(wanted, "logits"):
                logits[row] = tap.call(index, "logits", logits[row], last=True)
        return logits

    def _attention(self, index: int, layer: LayerWeights, normed: Array, batch: Batch, reading: Reading) -> Array:
        heads = self._heads(index, layer, normed, batch)
        keys_at = self.config.heads
        reading.pool.write(index, reading.places, heads[:, keys_at:].reshape(len(heads), 2, self.config.kv_heads, -1))
        mixed = reading.attend(index, heads[:, :keys_at])
        if batch.tap is not None:
            mixed = batch.tap.rows(f"layer.{index}.attention.out", mixed, index, self.config.heads)
        mixed = mixed.reshape(len(mixed), -1)
        out = rowwise(mixed, layer.output)
        for rows, adapter in batch.adapted():
            out[rows] += low_rank(mixed[rows], adapter.layers[index].output, adapter.scale)
        return out

    def _heads(self, index: int, layer: LayerWeights, normed: Array, batch: Batch) -> Array:
        """Turned queries, turned keys and values side by side, (rows, heads + 2 * kv_heads, head_dim)."""
        config = self.config
        projected = rowwise(normed, layer.qkv)
        for rows, adapter in batch.adapted():
            change, x = adapter.layers[index], normed[rows]
            parts = [low_rank(x, part, adapter.scale) for part in (change.query, change.key, change.value)]
            projected[rows] += np.concatenate(parts, axis=1)
        heads = projected.reshape(len(normed), -1, config.head_dim)
        turned = heads[:, : config.heads + config.kv_heads]
        turned[...] = rotate(turned, self._rope(index, batch))
        return heads if batch.tap is None else self._tapped(index, heads, batch.tap)

    def _tapped(self, index: int, heads: Array, tap: Tap) -> Array:
        keys_at, values_at = self.config.heads, self.config.heads + self.config.kv_heads
        bounds = {"q": slice(0, keys_at), "k": slice(keys_at, values_at), "v": slice(values_at, None)}
        for name, part in bounds.items():
            count = heads[:, part].shape[1]
            heads[:, part] = tap.rows(f"layer.{index}.attention.{name}", heads[:, part], index, count)
        return heads

    def _rope(self, index: int, batch: Batch) -> Array:
        """What `rotate` takes for the rows of `batch`; one entry for all heads, or one a head where a hook turns."""
        turns = self._turns[batch.positions]
        tap, site = batch.tap, f"layer.{index}.rope"
        if tap is None or not (hooked := list(tap.on(site))):
            return turns
        heads = (self.config.heads, self.config.kv_heads)
        turns = np.repeat(turns, sum(heads), axis=1)
        for request in hooked:
            rows = batch.rows(request)
            angles = batch.positions[rows, None] * self._frequencies
            both = tap.call(request, site, np.stack((angles, angles)), index)
            turns[rows] = np.repeat(turning(both).swapaxes(0, 1)[:, :, 0], heads, axis=1)
        return turns


def rope_frequencies(config: ModelConfig) -> NDArray[np.float64]:
    """Radians a position for each of the head_dim / 2 pairs: theta^(-2i / head_dim) (arXiv 2104.09864)."""
    return np.asarray(config.rope_theta ** (-np.arange(0, config.head_dim, 2) / config.head_dim))


def turning(angles: NDArray[np.float64]) -> Array:
    """For `rotate`: what an element and its partner are multiplied by, shape (..., 1, 2, 2, head_dim / 2).

    `angles` is (..., head_dim / 2).
    """
    cos, sin = np.cos(angles), np.sin(angles)
    own, partner = np.stack((cos, cos), axis=-2), np.stack((-sin, sin), axis=-2)
    return np.stack((own, partner), axis=-3)[..., None, :, :, :].astype(np.float32)


def rotate(x: Array, turns: Array) -> Array:
    """Rotary embedding of (rows, heads, head_dim), pairing element i with i + head_dim / 2 as Llama and Mixtral do."""
    halves = x.reshape(*x.shape[:-1], 2, -1)
    return np.asarray(halves * turns[..., 0, :, :] + halves[..., ::-1, :] * turns[..., 1, :, :]).reshape(x.shape)


def low_rank(x: Array, change: LowRank, scale: float) -> Array:
    """What a LoRA adapter adds to a projection of `x` (rows, inputs)."""
    return rowwise(rowwise(x, change.down), change.up) * np.float32(scale)
