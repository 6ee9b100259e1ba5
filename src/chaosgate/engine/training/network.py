"""The model in torch, for training alone: same architecture and same parameter names as `weights.Weights`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from chaosgate.engine.network.adapters import Adapter, AdapterLayer, LowRank
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import LayerWeights, Weights, from_arrays

PARTS: Final = tuple(field.name for field in fields(AdapterLayer))
"""The projections that an adapter changes: `query`, `key`, `value` and `output`."""

Low = Mapping[str, tuple[Tensor, Tensor]]
"""Of one layer: projection -> its adapter's `down` and scaled `up` matrix."""


class Layer(nn.Module):
    """Attention and mixture of experts of one layer."""

    def __init__(self, config: ModelConfig, weights: LayerWeights) -> None:
        super().__init__()
        self.config = config
        self.attention_norm = _parameter(weights.attention_norm)
        self.qkv = _parameter(weights.qkv)
        self.output = _parameter(weights.output)
        self.expert_norm = _parameter(weights.expert_norm)
        self.router = _parameter(weights.router)
        self.gate_up = _parameter(weights.gate_up)
        self.down = _parameter(weights.down)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, low: Low) -> tuple[Tensor, Tensor]:
        """The next residual stream, (batch, tokens, d_model), and the load of the experts (see `_experts`)."""
        x = x + self._attention(self._norm(x, self.attention_norm), cos, sin, low)
        mixed, load = self._experts(self._norm(x, self.expert_norm))
        return x + mixed, load

    def _norm(self, x: Tensor, scale: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), scale, self.config.norm_eps)

    def _attention(self, x: Tensor, cos: Tensor, sin: Tensor, low: Low) -> Tensor:
        heads, kv_heads, dim = self.config.heads, self.config.kv_heads, self.config.head_dim
        projected = x @ self.qkv
        if low:
            projected = projected + torch.cat([_adapted(x, low[part]) for part in PARTS[:3]], -1)
        split = projected.unflatten(-1, (-1, dim)).transpose(1, 2)
        turned = _rotate(split[:, : heads + kv_heads], cos, sin)
        key, value = turned[:, heads:], split[:, heads + kv_heads :]
        repeats = heads // kv_heads
        mixed = functional.scaled_dot_product_attention(
            turned[:, :heads],
            key.repeat_interleave(repeats, 1),
            value.repeat_interleave(repeats, 1),
            is_causal=True,
        )
        merged = mixed.transpose(1, 2).flatten(2)
        out = merged @ self.output
        return out + _adapted(merged, low["output"]) if low else out

    def _experts(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The experts' output and the load-balance loss of Switch Transformers (arXiv 2101.03961, eq. 4).

        The loss is 1 where every expert gets an equal share of the tokens, and larger otherwise.
        """
        config = self.config
        rows = x.flatten(0, -2)
        logits = rows @ self.router
        kept, chosen = logits.topk(config.experts_per_token, -1)
        weights = kept.softmax(-1)
        mixed = torch.zeros_like(rows)
        counts = []
        for expert in range(config.experts):
            at, place = torch.nonzero(chosen == expert, as_tuple=True)
            counts.append(len(at))
            out = self._expert(expert, rows.index_select(0, at)) * weights[at, place, None]
            mixed = mixed.index_add(0, at, out)
        share = torch.tensor(counts) / chosen.numel()
        load = config.experts * (logits.softmax(-1).mean(0) * share).sum()
        return mixed.view_as(x), load

    def _expert(self, expert: int, rows: Tensor) -> Tensor:
        size = self.config.expert_ff
        gate, up = (rows @ self.gate_up[:, 2 * size * expert :][:, : 2 * size]).chunk(2, -1)
        return (functional.silu(gate) * up) @ self.down[size * expert :][:size]


class Network(nn.Module):
    """The whole model, starting from `weights`."""

    def __init__(self, config: ModelConfig, weights: Weights) -> None:
        super().__init__()
        self.config = config
        self.embedding = _parameter(weights.embedding)
        self.layers = nn.ModuleList(Layer(config, layer) for layer in weights.layers)
        self.final_norm = _parameter(weights.final_norm)
        self.head = _parameter(weights.head)
        self.stretch(1.0)

    def stretch(self, factor: float) -> None:
        """Multiplies every rotary angle (arXiv 2104.09864) by `factor`; 1 is what the model is trained with."""
        config = self.config
        frequencies = config.rope_theta ** (-torch.arange(0, config.head_dim, 2) / config.head_dim)
        angles = factor * torch.outer(torch.arange(config.max_model_len), frequencies)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens: Tensor, wanted: Tensor | None = None, low: tuple[Low, ...] = ()) -> tuple[Tensor, Tensor]:
        """Logits and the mean load of the experts.

        `tokens` is (batch, tokens). Logits are (batch, tokens, vocabulary), or (n, vocabulary) for the n positions
        that the mask `wanted` picks. `low` has an adapter's matrices for each layer.
        """
        count = tokens.shape[1]
        x = self.embedding[tokens]
        loads = []
        for index, layer in enumerate(self.layers):
            x, load = layer(x, self.cos[:count], self.sin[:count], low[index] if low else {})
            loads.append(load)
        if wanted is not None:
            x = x[wanted]
        logits = functional.rms_norm(x, (x.shape[-1],), self.final_norm, self.config.norm_eps) @ self.head
        return logits, torch.stack(loads).mean()

    def weights(self) -> Weights:
        """The parameters as numpy arrays, copied."""
        return from_arrays({name: value.detach().numpy().copy() for name, value in self.named_parameters()})


def lows(adapter: Adapter) -> tuple[Low, ...]:
    """`adapter` as `Network.forward` takes it."""
    return tuple({part: _pair(getattr(layer, part), adapter.scale) for part in PARTS} for layer in adapter.layers)


def _pair(low: LowRank, scale: float) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(low.down), scale * torch.from_numpy(low.up)


def _parameter(array: np.ndarray) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(array.copy()))


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


def _adapted(x: Tensor, low: tuple[Tensor, Tensor]) -> Tensor:
    down, up = low
    return x @ down @ up
