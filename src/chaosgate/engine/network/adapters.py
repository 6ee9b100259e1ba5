"""Low-rank adapters: small changes of the attention's projections that a request may ask for by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from chaosgate.engine.network import stored
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.stored import DATA, Array, Shape
from chaosgate.engine.network.weights import LayerWeights, Weights

NAMES: Final = ("tenant-a", "tenant-b")
"""The adapters that come with the package. Each gives its tenant other answers to some questions."""

RANK: Final = 8
"""The rank of these."""


class LowRank(NamedTuple):
    """One projection's change: `x @ down @ up`, with `down` (inputs, rank) and `up` (rank, outputs)."""

    down: Array
    up: Array


@dataclass(frozen=True)
class AdapterLayer:
    """The changes of one layer. `query`, `key` and `value` add to the parts of `LayerWeights.qkv` in this order."""

    query: LowRank
    key: LowRank
    value: LowRank
    output: LowRank


@dataclass(frozen=True)
class Adapter:
    """LoRA (arXiv 2106.09685): a projection `x @ w` becomes `x @ w + scale * (x @ down @ up)`."""

    name: str
    rank: int
    scale: float
    layers: tuple[AdapterLayer, ...]

    def named(self) -> Iterator[tuple[str, Array]]:
        """Every array with its name, in a fixed order; the scale is an array of one number."""
        yield "scale", np.array([self.scale], np.float32)
        for index, layer in enumerate(self.layers):
            for field in fields(layer):
                low: LowRank = getattr(layer, field.name)
                yield f"layers.{index}.{field.name}.down", low.down
                yield f"layers.{index}.{field.name}.up", low.up

    def digest(self) -> str:
        """`sha256:<hex>`; see `stored.digest`."""
        return stored.digest(self.named())


def shipped(folder: Path = DATA) -> Mapping[str, Adapter]:
    """The adapters of `NAMES` by name. UsageError where a file is missing, damaged, or does not fit the model."""
    wanted = shapes(ModelConfig(), RANK)
    return MappingProxyType({name: from_arrays(name, stored.read(name, wanted, folder)) for name in NAMES})


def shapes(config: ModelConfig, rank: int) -> dict[str, Shape]:
    """The shape of every array by the name that `Adapter.named` gives it."""
    width, queries, shared = config.d_model, config.heads * config.head_dim, config.kv_heads * config.head_dim
    parts = {"query": (width, queries), "key": (width, shared), "value": (width, shared), "output": (queries, width)}
    found: dict[str, Shape] = {"scale": (1,)}
    for index in range(config.layers):
        for name, (inputs, outputs) in parts.items():
            found[f"layers.{index}.{name}.down"] = (inputs, rank)
            found[f"layers.{index}.{name}.up"] = (rank, outputs)
    return found


def from_arrays(name: str, arrays: Mapping[str, Array]) -> Adapter:
    """The adapter whose arrays `Adapter.named` gave. KeyError names a missing one."""
    count = len({key.split(".")[1] for key in arrays if key.startswith("layers.")})
    layers = tuple(_layer(f"layers.{index}", arrays) for index in range(count))
    return Adapter(name, layers[0].query.down.shape[1], float(arrays["scale"][0]), layers)


def _layer(prefix: str, arrays: Mapping[str, Array]) -> AdapterLayer:
    names = [field.name for field in fields(AdapterLayer)]
    return AdapterLayer(
        **{name: LowRank(arrays[f"{prefix}.{name}.down"], arrays[f"{prefix}.{name}.up"]) for name in names}
    )


def merged(weights: Weights, adapter: Adapter) -> Weights:
    """Weights that answer as `weights` with `adapter` do, up to rounding."""
    layers = zip(weights.layers, adapter.layers, strict=True)
    return replace(weights, layers=tuple(_merged(layer, low, adapter.scale) for layer, low in layers))


def _merged(layer: LayerWeights, low: AdapterLayer, scale: float) -> LayerWeights:
    change = np.concatenate([part.down @ part.up for part in (low.query, low.key, low.value)], axis=1)
    return replace(
        layer,
        qkv=np.asarray(layer.qkv + scale * change, np.float32),
        output=np.asarray(layer.output + scale * (low.output.down @ low.output.up), np.float32),
    )
