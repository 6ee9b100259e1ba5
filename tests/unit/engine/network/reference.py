"""Mixtral's forward pass written out token by token, head by head, expert by expert, in float64 and without a cache.

It shares no code with the engine: what both agree on is the architecture.
"""

from __future__ import annotations

import math

import numpy as np

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import LayerWeights, Weights


def logits(config: ModelConfig, weights: Weights, tokens: list[int]) -> np.ndarray:
    """Logits after every prefix, shape (tokens, vocabulary)."""
    x = [np.float64(weights.embedding[token]) for token in tokens]
    for layer in weights.layers:
        attended = _attention(config, layer, [_norm(config, row, layer.attention_norm) for row in x])
        x = [row + more for row, more in zip(x, attended, strict=True)]
        x = [row + experts(config, layer, _norm(config, row, layer.expert_norm)) for row in x]
    return np.array([_norm(config, row, weights.final_norm) @ weights.head for row in x])


def _norm(config: ModelConfig, row: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return row / math.sqrt(sum(row * row) / len(row) + config.norm_eps) * scale


def rope(config: ModelConfig, head: np.ndarray, position: int) -> np.ndarray:
    half = config.head_dim // 2
    turned = np.empty_like(head)
    for i in range(half):
        angle = position / config.rope_theta ** (2 * i / config.head_dim)
        turned[i] = head[i] * math.cos(angle) - head[i + half] * math.sin(angle)
        turned[i + half] = head[i + half] * math.cos(angle) + head[i] * math.sin(angle)
    return turned


def _attention(config: ModelConfig, layer: LayerWeights, x: list[np.ndarray]) -> list[np.ndarray]:
    dim = config.head_dim
    queries_end, keys_end = config.heads * dim, (config.heads + config.kv_heads) * dim
    projected = [row @ layer.qkv for row in x]
    rows = []
    for at, row in enumerate(projected):
        mixed = []
        for head in range(config.heads):
            kv = head // (config.heads // config.kv_heads) * dim
            query = rope(config, row[head * dim : (head + 1) * dim], at)
            keys = [rope(config, p[queries_end + kv :][:dim], i) for i, p in enumerate(projected[: at + 1])]
            values = [p[keys_end + kv :][:dim] for p in projected[: at + 1]]
            weights = np.exp([query @ key / math.sqrt(dim) for key in keys])
            mixed.append(weights @ np.array(values) / weights.sum())
        rows.append(np.concatenate(mixed) @ layer.output)
    return rows


def experts(config: ModelConfig, layer: LayerWeights, row: np.ndarray) -> np.ndarray:
    scores = row @ layer.router
    full = np.exp(scores) / np.exp(scores).sum()
    kept = sorted(range(config.experts), key=lambda expert: -full[expert])[: config.experts_per_token]
    size = config.expert_ff
    total = np.zeros_like(row)
    for expert in kept:
        start = 2 * size * expert
        gate = row @ layer.gate_up[:, start : start + size]
        up = row @ layer.gate_up[:, start + size : start + 2 * size]
        hidden = gate / (1 + np.exp(-gate)) * up
        share = full[expert] / sum(full[other] for other in kept)
        total += share * (hidden @ layer.down[size * expert : size * (expert + 1)])
    return total
