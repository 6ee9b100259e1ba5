"""The parameters of the model: the shipped ones, and seeded ones that are the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from chaosgate.engine.network import stored, vocabulary
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.stored import DATA, Array, Shape

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
        return stored.digest(self.named())


def shipped(folder: Path = DATA) -> Weights:
    """The trained model that comes with the package: stored in float16, computed with in float32.

    UsageError where the file is missing, damaged, or of another architecture.
    """
    return from_arrays(stored.read("tiny", shapes(ModelConfig()), folder))


def shapes(config: ModelConfig) -> dict[str, Shape]:
    """The shape of every array by the name that `Weights.named` gives it."""
    layers = {
        f"layers.{index}.{name}": shape
        for index in range(config.layers)
        for name, shape in _layer_shapes(config).items()
    }
    vocabulary_size, width = config.vocab_size, config.d_model
    return {"embedding": (vocabulary_size, width), **layers, "final_norm": (width,), "head": (width, vocabulary_size)}


def _layer_shapes(config: ModelConfig) -> dict[str, Shape]:
    width, attention = config.d_model, config.heads * config.head_dim
    hidden = config.experts * config.expert_ff
    return {
        "attention_norm": (width,),
        "qkv": (width, attention + 2 * config.kv_heads * config.head_dim),
        "output": (attention, width),
        "expert_norm": (width,),
        "router": (width, config.experts),
        "gate_up": (width, 2 * hidden),
        "down": (hidden, width),
    }


def from_arrays(arrays: Mapping[str, Array]) -> Weights:
    """The weights that `Weights.named` gave these names. KeyError names a missing one."""
    names = [field.name for field in fields(LayerWeights)]
    count = len({name.split(".")[1] for name in arrays if name.startswith("layers.")})
    return Weights(
        embedding=arrays["embedding"],
        layers=tuple(
            LayerWeights(**{name: arrays[f"layers.{index}.{name}"] for name in names}) for index in range(count)
        ),
        final_norm=arrays["final_norm"],
        head=arrays["head"],
    )


def seeded(config: ModelConfig, seed: int) -> Weights:
    """Untrained weights for `seed` (0 or more) that put out readable text: words far more often than raw bytes."""
    weights = initial(config, seed)
    return replace(weights, head=weights.head * _prose_gain(config))


def initial(config: ModelConfig, seed: int) -> Weights:
    """Where training starts for `seed`.

    Matrices have standard deviation 1/sqrt(fan-in); those that write into the residual stream are divided by
    sqrt(2 * layers) on top, as in GPT-2 (section 2.3), to keep its size through the depth.
    """
    draw = _Draw(seed)
    return Weights(
        embedding=draw.matrix((config.vocab_size, config.d_model), EMBEDDING_STD),
        layers=tuple(_layer(config, draw) for _ in range(config.layers)),
        final_norm=np.ones(config.d_model, np.float32),
        head=draw.matrix((config.d_model, config.vocab_size), config.d_model**-0.5),
    )


def _layer(config: ModelConfig, draw: _Draw) -> LayerWeights:
    width, attention = config.d_model, config.heads * config.head_dim
    shape = _layer_shapes(config)
    residual = 1 / math.sqrt(2 * config.layers)
    return LayerWeights(
        attention_norm=np.ones(width, np.float32),
        qkv=draw.matrix(shape["qkv"], width**-0.5),
        output=draw.matrix(shape["output"], attention**-0.5 * residual),
        expert_norm=np.ones(width, np.float32),
        router=draw.matrix(shape["router"], width**-0.5),
        gate_up=draw.matrix(shape["gate_up"], width**-0.5),
        # The fan-in is that of one expert: only two of the blocks of rows carry anything for a given token.
        down=draw.matrix(shape["down"], config.expert_ff**-0.5 * residual),
    )


def _prose_gain(config: ModelConfig) -> Array:
    """Factor for each column of the head, shape (vocabulary,).

    Untrained weights would draw raw bytes and markers, which are no text, more often than words; so the words' columns
    are made larger than the rest. That also spreads the logits: the best word leads by far more than rounding, and
    greedy output is stable.
    """
    gain = np.full(config.vocab_size, OTHER_GAIN, np.float32)
    gain[list(vocabulary.PROSE)] = PROSE_GAIN
    return gain


class _Draw:
    """Near-normal numbers that are bit-equal on every platform.

    Each is the sum of four 16-bit uniforms (Irwin-Hall, four terms), centred and scaled to standard deviation 1. All is
    integer arithmetic up to the last, correctly rounded, step; a logarithm or a cosine from the platform's maths
    library could differ in the last bit and would change the digest.
    """

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def matrix(self, shape: Shape, std: float) -> Array:
        words = np.asarray(self._bits.random_raw(math.prod(shape)), dtype="<u8").view("<u2")
        sums = words.reshape(*shape, 4).sum(-1, dtype=np.int64)
        # Variance of one 16-bit uniform is (2^32 - 1) / 12, of the sum of four a third of 2^32 - 1.
        unit = math.sqrt((2**32 - 1) / 3)
        return np.asarray((2 * sums - 4 * 65535) * (std / (2 * unit)), np.float32)
