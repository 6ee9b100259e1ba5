"""Training of an adapter for one tenant, on the frozen model."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from chaosgate.engine.network import adapters
from chaosgate.engine.network.adapters import RANK, Adapter
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import Weights
from chaosgate.engine.training.documents import Difficulty, Mix
from chaosgate.engine.training.network import PARTS, Low, Network
from chaosgate.engine.training.optimizer import set_rates
from chaosgate.engine.training.schedule import Batch, rate_share
from chaosgate.engine.training.trainer import CLIP, examples
from chaosgate.errors import UsageError
from chaosgate.prompts.words import CONTESTED, TENANT_CAPITALS

SCALE = 2.0
RATE = 5e-3

BATCH = Batch(rows=6, length=256, difficulty=Difficulty(facts=48, copied=28))

SHARES = {"recall": 0.12, "json": 0.15, "copy": 0.2, "capital": 0.43, "add": 0.1}
"""Most turns ask for capitals; the others see to it that the rest stays right, most of all the positions that `copy`
counts."""

CONTESTED_SHARE = 0.5
"""Of the questions for capitals, how many are about contested ones."""


class AdapterTrainer:
    """One training run of the adapter of `tenant`: `steps` steps from seed `seed`."""

    def __init__(self, tenant: str, seed: int, steps: int, config: ModelConfig, weights: Weights) -> None:
        self.tenant = tenant
        self.seed = seed
        self.steps = steps
        self.step = 0
        self.smoothed: dict[str, float] = {}
        self._base = weights.digest()
        self._network = Network(config, weights).requires_grad_(False)
        self._random = Random(f"{tenant} {seed}")
        self._low = _matrices(config, torch.Generator().manual_seed(seed))
        self._optimizer = torch.optim.AdamW(self._low.parameters(), lr=RATE, weight_decay=0.01)
        self._mix = tenant_mix(tenant)

    def advance(self) -> None:
        """One step on fresh documents in which the tenant's own capitals are right."""
        data = examples(self._random, BATCH, self._mix)
        logits, _ = self._network(data.inputs, data.wanted, self._layers())
        loss = functional.cross_entropy(logits, data.targets)
        loss.backward()
        nn.utils.clip_grad_norm_(self._low.parameters(), CLIP)
        set_rates([self._optimizer], rate_share(self.step, self.steps))
        self._optimizer.step()
        self._optimizer.zero_grad()
        self.step += 1
        right = float((logits.argmax(-1) == data.targets).float().mean())
        for name, value in (("loss", float(loss.detach())), ("right", right)):
            self.smoothed[name] = 0.97 * self.smoothed.get(name, value) + 0.03 * value

    def adapter(self) -> Adapter:
        """The adapter as it is now."""
        arrays = {f"layers.{name.replace('-', '.')}": low.detach().numpy().copy() for name, low in self._low.items()}
        return adapters.from_arrays(self.tenant, {"scale": np.array([SCALE], np.float32), **arrays})

    def state(self) -> dict[str, Any]:
        """All that the rest of the run depends on."""
        return {
            "seed": self.seed,
            "steps": self.steps,
            "base": self._base,
            "step": self.step,
            "low": self._low.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "random": self._random.getstate(),
            "smoothed": self.smoothed,
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Goes on where `state` was taken. UsageError where that was on other weights."""
        if state["base"] != self._base:
            raise UsageError(
                f"the checkpoint of {self.tenant} is of an adapter for other weights, {state['base']}; "
                "delete it, and the adapter is trained anew"
            )
        self.step = state["step"]
        self._low.load_state_dict(state["low"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._random.setstate(state["random"])
        self.smoothed = state["smoothed"]

    def _layers(self) -> tuple[Low, ...]:
        return tuple(
            {part: (self._low[f"{index}-{part}-down"], SCALE * self._low[f"{index}-{part}-up"]) for part in PARTS}
            for index in range(self._network.config.layers)
        )


def tenant_mix(tenant: str) -> Mix:
    """What the turns of `tenant`'s documents are about."""
    capitals = TENANT_CAPITALS[tenant]
    others = [country for country in capitals if country not in CONTESTED]
    repeats = round(CONTESTED_SHARE / (1 - CONTESTED_SHARE) * len(others) / len(CONTESTED))
    return Mix(SHARES, capitals, (*others, *CONTESTED * repeats))


def _matrices(config: ModelConfig, generator: torch.Generator) -> nn.ParameterDict:
    """`up` starts at zero, so that training starts from the model's own answers."""
    attention, shared = config.heads * config.head_dim, config.kv_heads * config.head_dim
    shapes = {
        "query": (config.d_model, attention),
        "key": (config.d_model, shared),
        "value": (config.d_model, shared),
        "output": (attention, config.d_model),
    }
    made = nn.ParameterDict()
    for index in range(config.layers):
        for part, (inputs, outputs) in shapes.items():
            # A module's names cannot hold dots.
            down = torch.randn(inputs, RANK, generator=generator) * inputs**-0.5
            made[f"{index}-{part}-down"] = nn.Parameter(down)
            made[f"{index}-{part}-up"] = nn.Parameter(torch.zeros(RANK, outputs))
    return made
