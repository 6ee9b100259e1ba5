"""Sizes of the embedded model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelConfig:
    """Shape of the transformer: Mixtral's architecture (arXiv 2401.04088, section 2) at toy size.

    Every layer is a sparse mixture of experts. `heads` query heads share `kv_heads` key/value heads, so `heads` is a
    multiple of `kv_heads`. `max_model_len` counts prompt and answer tokens together.
    """

    vocab_size: int = 512
    d_model: int = 128
    layers: int = 3
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    experts: int = 8
    experts_per_token: int = 2
    expert_ff: int = 64
    rope_theta: float = 1e4
    norm_eps: float = 1e-5
    max_model_len: int = 1024
