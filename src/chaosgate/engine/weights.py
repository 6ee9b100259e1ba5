"""Seeded weights: the same numbers for the same seed on every machine."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from chaosgate.engine import vocabulary
from chaosgate.engine.config import ModelConfig

Array = NDArray[np.float32]

EMBEDDING_STD = 0.3
PROSE_GAIN = 4.0
OTHER_GAIN = 0.05


@dataclass(frozen=True)
class LayerWeights:
    """One layer. Matrices map a row vector from the left: `y = x @ w`, shape (inputs, outputs).

    `qkv` puts out the query heads, then the key heads, then the value heads. `gate_up` holds for each expert its gate
    and then its up projection side by side, `down` stacks the experts' rows in the same order.
    """

    attention_norm: Array
    qkv: Array
    output: Array
    expert_norm: Array
    router: Array
    gate_up: Array
    down: Array


@dataclass(frozen=True)
class Weights:
    """All parameters of the model; `embedding` is (vocabulary, d_model), `head` (d_model, vocabulary), not tied."""

    embedding: Array
    layers: tuple[LayerWeights, ...]
    final_norm: Array
    head: Array

    def named(self) -> Iterator[tuple[str, Array]]:
        """Every array with its name, in a fixed order."""
        yield "embedding", self.embedding
        for index, layer in enumerate(self.layers):
            for field in fields(layer):
                yield f"layers.{index}.{field.name}", getattr(layer, field.name)
        yield "final_norm", self.final_norm
        yield "head", self.head

    def digest(self) -> str:
        """`sha256:<hex>` over names, shapes and little-endian float32 bytes: equal weights, equal digest."""
        state = hashlib.sha256()
        for name, array in self.named():
            state.update(f"{name} {array.shape}\n".encode())
            state.update(np.ascontiguousarray(array, dtype="<f4").tobytes())
        return f"sha256:{state.hexdigest()}"


def seeded(config: ModelConfig, seed: int) -> Weights:
    """Untrained weights for `seed` (0 or more).

    Matrices have standard deviation 1/sqrt(fan-in); those that write into the residual stream are divided by
    sqrt(2 * layers) on top, as in GPT-2 (section 2.3), to keep its size through the depth.
    """
    draw = _Draw(seed)
    return Weights(
        embedding=draw.matrix(config.vocab_size, config.d_model, EMBEDDING_STD),
        layers=tuple(_layer(config, draw) for _ in range(config.layers)),
        final_norm=np.ones(config.d_model, np.float32),
        head=_head(config, draw),
    )


def _layer(config: ModelConfig, draw: _Draw) -> LayerWeights:
    width, attention = config.d_model, config.heads * config.head_dim
    qkv = attention + 2 * config.kv_heads * config.head_dim
    hidden = config.experts * config.expert_ff
    residual = 1 / math.sqrt(2 * config.layers)
    return LayerWeights(
        attention_norm=np.ones(width, np.float32),
        qkv=draw.matrix(width, qkv, width**-0.5),
        output=draw.matrix(attention, width, attention**-0.5 * residual),
        expert_norm=np.ones(width, np.float32),
        router=draw.matrix(width, config.experts, width**-0.5),
        gate_up=draw.matrix(width, 2 * hidden, width**-0.5),
        # The fan-in is that of one expert: only two of the blocks of rows carry anything for a given token.
        down=draw.matrix(hidden, width, config.expert_ff**-0.5 * residual),
    )


def _head(config: ModelConfig, draw: _Draw) -> Array:
    """Untrained weights would draw raw bytes and markers, which are no text, more often than words.

    The words' columns are therefore made larger than the rest. That also spreads the logits: the best word leads by far
    more than rounding, and greedy output is stable.
    """
    gain = np.full(config.vocab_size, OTHER_GAIN, np.float32)
    gain[list(vocabulary.PROSE)] = PROSE_GAIN
    return draw.matrix(config.d_model, config.vocab_size, config.d_model**-0.5) * gain


class _Draw:
    """Near-normal numbers that are bit-equal on every platform.

    Each is the sum of four 16-bit uniforms (Irwin-Hall, four terms), centred and scaled to standard deviation 1. All is
    integer arithmetic up to the last, correctly rounded, step; a logarithm or a cosine from the platform's maths
    library could differ in the last bit and would change the digest.
    """

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def matrix(self, rows: int, columns: int, std: float) -> Array:
        words = np.asarray(self._bits.random_raw(rows * columns), dtype="<u8").view("<u2")
        sums = words.reshape(rows, columns, 4).sum(-1, dtype=np.int64)
        # Variance of one 16-bit uniform is (2^32 - 1) / 12, of the sum of four a third of 2^32 - 1.
        unit = math.sqrt((2**32 - 1) / 3)
        return np.asarray((2 * sums - 4 * 65535) * (std / (2 * unit)), np.float32)
