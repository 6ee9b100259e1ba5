"""Muon for the matrices inside the layers, AdamW for everything else."""

from __future__ import annotations

import torch
from torch import Tensor

from chaosgate.engine.training.network import Network

MUON_RATE = 0.02
MUON_MOMENTUM = 0.95
MUON_DECAY = 0.01
ADAM_RATE = 3e-3
ADAM_BETAS = (0.9, 0.98)
ADAM_DECAY = 0.1

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""Coefficients of the quintic iteration of Muon (arXiv 2502.16982, section 2.1)."""


class Muon(torch.optim.Optimizer):
    """Momentum whose update is orthogonalised by five Newton-Schulz steps (arXiv 2502.16982)."""

    def __init__(self, parameters: list[Tensor], rate: float) -> None:
        super().__init__(parameters, {"lr": rate})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """One update of every parameter that has a gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, group["lr"])

    def _update(self, parameter: Tensor, rate: float) -> None:
        state = self.state[parameter]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(parameter)
        momentum = state["momentum"].mul_(MUON_MOMENTUM).add_(parameter.grad)
        update = orthogonalised(parameter.grad + MUON_MOMENTUM * momentum)
        inputs, outputs = parameter.shape
        # A matrix that widens needs a larger update for the same change of its output.
        size = max(1.0, outputs / inputs) ** 0.5
        parameter.mul_(1 - rate * MUON_DECAY).add_(update, alpha=-rate * size)


def orthogonalised(matrix: Tensor) -> Tensor:
    """`matrix` with all singular values brought near 1 (0.7 to 1.2), its singular vectors kept."""
    first, third, fifth = NEWTON_SCHULZ
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix
    x = x / (x.norm() + 1e-7)
    for _ in range(5):
        square = x @ x.T
        x = first * x + (third * square + fifth * square @ square) @ x
    return x.T if tall else x


def optimizers(network: Network) -> list[torch.optim.Optimizer]:
    """Muon and AdamW over all parameters of `network`; norms are not decayed."""
    inner, outer, scales = [], [], []
    for name, parameter in network.named_parameters():
        if parameter.dim() < 2:
            scales.append(parameter)
        elif name.startswith("layers.") and not name.endswith(".router"):
            inner.append(parameter)
        else:
            outer.append(parameter)
    adam = torch.optim.AdamW(
        [{"params": outer, "weight_decay": ADAM_DECAY}, {"params": scales, "weight_decay": 0.0}],
        lr=ADAM_RATE,
        betas=ADAM_BETAS,
    )
    return [Muon(inner, MUON_RATE), adam]


def set_rates(optimizers: list[torch.optim.Optimizer], share: float) -> None:
    """Every optimizer's learning rate becomes `share` of the one it started with."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
            group["lr"] = group["initial_lr"] * share
