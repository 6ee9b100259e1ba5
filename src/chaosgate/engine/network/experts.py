"""The sparse mixture of experts of one layer (arXiv 2401.04088, section 2.1)."""

from __future__ import annotations

import numpy as np

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.products import rowwise
from chaosgate.engine.network.sites import Tap
from chaosgate.engine.network.stored import Array, Ints
from chaosgate.engine.network.weights import LayerWeights

FEW_ROWS = 4
"""Up to here one product for every row and expert is quicker than sorting rows by expert."""


class Experts:
    """SwiGLU experts of which each row goes through the few that the router prefers."""

    def __init__(self, config: ModelConfig, layer: LayerWeights, index: int) -> None:
        self._config = config
        self._index = index
        self._router = layer.router
        by_expert = layer.gate_up.reshape(config.d_model, config.experts, 2 * config.expert_ff)
        self._gate_up = np.ascontiguousarray(by_expert.swapaxes(0, 1))
        self._down = np.ascontiguousarray(layer.down.reshape(config.experts, config.expert_ff, config.d_model))

    def __call__(self, x: Array, tap: Tap | None) -> Array:
        """The weighted sum of the chosen experts for each row of `x` (rows, d_model)."""
        logits = rowwise(x, self._router)
        if tap is not None:
            logits = tap.rows(f"layer.{self._index}.router", logits, self._index)
        chosen, weights = route(logits, self._config.experts_per_token)
        parts = self._chosen(x, chosen)
        if tap is not None:
            self._tapped(x, chosen, parts, tap)
        parts *= weights[..., None]
        total = parts[:, 0]
        for rank in range(1, parts.shape[1]):
            total = total + parts[:, rank]
        return np.asarray(total, np.float32)

    def one(self, expert: int, x: Array) -> Array:
        """The output of one expert, before any weight, for each row of `x`."""
        return rowwise(_gated(rowwise(x, self._gate_up[expert])), self._down[expert])

    def _chosen(self, x: Array, chosen: Ints) -> Array:
        """The output of each chosen expert, shape (rows, experts_per_token, d_model)."""
        pairs = chosen.ravel()
        order = np.argsort(pairs, kind="stable") if len(x) > FEW_ROWS else np.arange(len(pairs))
        spans = _spans(pairs[order].tolist())
        rows = x[order // chosen.shape[1], None]
        projected = np.empty((len(rows), 1, self._gate_up.shape[2]), np.float32)
        for expert, start, end in spans:
            np.matmul(rows[start:end], self._gate_up[expert], out=projected[start:end])
        hidden = _gated(projected)
        outputs = np.empty_like(rows)
        for expert, start, end in spans:
            np.matmul(hidden[start:end], self._down[expert], out=outputs[start:end])
        parts = np.empty_like(x, shape=(len(rows), x.shape[1]))
        parts[order] = outputs[:, 0]
        return parts.reshape(*chosen.shape, -1)

    def _tapped(self, x: Array, chosen: Ints, parts: Array, tap: Tap) -> None:
        for expert in range(self._config.experts):
            site = f"layer.{self._index}.expert.{expert}"
            for request in tap.on(site):
                rows = tap.parts[request].rows
                answer = tap.call(request, site, self.one(expert, x[rows]), self._index, expert=expert)
                hit, rank = np.nonzero(chosen[rows] == expert)
                parts[rows][hit, rank] = answer[hit]


def _spans(experts: list[int]) -> list[tuple[int, int, int]]:
    """(expert, start, end) of each run of one expert."""
    ends = [at for at in range(1, len(experts)) if experts[at] != experts[at - 1]] + [len(experts)]
    return [(experts[start], start, end) for start, end in zip([0, *ends], ends, strict=False)]


def _gated(projected: Array) -> Array:
    """SwiGLU: the first half, through SiLU, times the second (arXiv 2002.05202)."""
    gate, up = projected[..., : projected.shape[-1] // 2], projected[..., projected.shape[-1] // 2 :]
    return np.asarray(gate / (1 + np.exp(-gate)) * up)


def route(logits: Array, kept: int) -> tuple[Ints, Array]:
    """The `kept` experts with the largest logits, best first, and their weights, each (rows, kept).

    The weights are the softmax over the kept ones, which equals the full softmax renormalised over them. Of equal
    logits the lower index wins.
    """
    falling = -logits
    chosen = falling.argsort(axis=-1, kind="stable")[:, :kept]
    falling.sort(axis=-1)
    exps = np.exp(falling[:, :1] - falling[:, :kept])
    return chosen, np.asarray(exps / np.add.reduce(exps, axis=-1, keepdims=True))
