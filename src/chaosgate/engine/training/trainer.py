"""Training of the model, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from chaosgate.engine.network import vocabulary
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.training.documents import Mix, document
from chaosgate.engine.training.network import Network
from chaosgate.engine.training.optimizer import optimizers, set_rates
from chaosgate.engine.training.schedule import Batch, Curriculum, mix_at, rate_share
from chaosgate.engine.training.start import start

LOAD_WEIGHT = 0.005
"""Share of the load-balance loss; a larger one makes the experts alike."""

CLIP = 1.0

_KEYS = torch.tensor([vocabulary.TOKENS.index(word.encode()) for word in vocabulary.ASSIGNED_WORDS])
_MARKS = {
    "recall": _KEYS,
    "json": torch.tensor([vocabulary.TOKENS.index(b'":"')]),
    "question": torch.tensor([ord(">")]),
}
"""Kind of answer token -> the tokens that stand before it: a key's value, a field's value, a first token."""


@dataclass(frozen=True)
class Examples:
    """`inputs` (rows, tokens), `wanted` marks the positions whose next token is learned, `targets` are those tokens."""

    inputs: Tensor
    wanted: Tensor
    targets: Tensor


def examples(random: Random, batch: Batch, mix: Mix) -> Examples:
    """Fresh documents cut to one length."""
    made = [document(random, batch.length + 1, batch.difficulty, mix) for _ in range(batch.rows)]
    tokens = torch.tensor([one.tokens[: batch.length + 1] for one in made])
    answers = torch.tensor([one.answers[: batch.length + 1] for one in made])
    wanted = answers[:, 1:]
    return Examples(tokens[:, :-1], wanted, tokens[:, 1:][wanted])


class Trainer:
    """One training run: `steps` steps from seed `seed`."""

    def __init__(self, seed: int, steps: int, config: ModelConfig) -> None:
        self.seed = seed
        self.steps = steps
        self.step = 0
        self.network = Network(config, start(config, seed))
        self._optimizers = optimizers(self.network)
        self._curriculum = Curriculum()
        self._random = Random(seed)
        self.smoothed: dict[str, float] = {}

    def advance(self) -> None:
        """One step on fresh documents."""
        data = examples(self._random, self._curriculum.batch(self._random.random()), mix_at(self.step))
        logits, load = self.network(data.inputs, data.wanted)
        loss = functional.cross_entropy(logits, data.targets)
        (loss + LOAD_WEIGHT * load).backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), CLIP)
        set_rates(self._optimizers, rate_share(self.step, self.steps))
        for optimizer in self._optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.step += 1
        self._observe(data, logits.detach().argmax(-1) == data.targets, float(loss.detach()), float(load.detach()))

    def _observe(self, data: Examples, right: Tensor, loss: float, load: float) -> None:
        before = data.inputs[data.wanted]
        seen = {"loss": loss, "load": load, "facts": self._curriculum.facts}
        for name, tokens in _MARKS.items():
            hits = right[torch.isin(before, tokens)]
            if len(hits):
                seen[name] = float(hits.float().mean())
        self._curriculum.observe(self.step, seen.get("recall", 0.0))
        for name, value in seen.items():
            self.smoothed[name] = 0.97 * self.smoothed.get(name, value) + 0.03 * value

    def state(self) -> dict[str, Any]:
        """All that the rest of the run depends on."""
        return {
            "seed": self.seed,
            "steps": self.steps,
            "step": self.step,
            "network": self.network.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "curriculum": vars(self._curriculum),
            "random": self._random.getstate(),
            "smoothed": self.smoothed,
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Goes on where `state` was taken."""
        self.step = state["step"]
        self.network.load_state_dict(state["network"])
        for optimizer, saved in zip(self._optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        vars(self._curriculum).update(state["curriculum"])
        self._random.setstate(state["random"])
        self.smoothed = state["smoothed"]
