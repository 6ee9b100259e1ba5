from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.vocabulary import EOS
from chaosgate.engine.training import loop
from chaosgate.engine.training.documents import EVEN, Difficulty
from chaosgate.engine.training.schedule import Batch
from chaosgate.engine.training.trainer import Trainer, examples

pytestmark = pytest.mark.slow

STEPS = 200
SMALL = ModelConfig(d_model=32, layers=1, experts=2, expert_ff=16)


def trained(steps: int) -> Trainer:
    trainer = Trainer(5, STEPS, SMALL)
    for _ in range(steps):
        trainer.advance()
    return trainer


def test_targets_are_the_tokens_of_the_answers() -> None:
    data = examples(Random(1), Batch(4, 100, Difficulty(6, 4)), EVEN)
    assert data.inputs.shape == data.wanted.shape == (4, 100)
    assert data.wanted.sum() == len(data.targets)
    after = torch.roll(data.inputs, -1, 1)[:, :-1][data.wanted[:, :-1]]
    kept = data.wanted[:, :-1].sum(1)
    at = 0
    for row in range(4):
        # The last target of a row may lie behind its inputs.
        assert after.split(kept.tolist())[row].tolist() == data.targets[at : at + kept[row]].tolist()
        at += int(data.wanted[row].sum())
    assert (data.targets == EOS).any()


def test_training_lowers_the_loss() -> None:
    data = examples(Random(2), Batch(8, 96, Difficulty(4, 4)), EVEN)

    def loss(trainer: Trainer) -> float:
        with torch.no_grad():
            logits, _ = trainer.network(data.inputs, data.wanted)
        return float(torch.nn.functional.cross_entropy(logits, data.targets))

    assert loss(trained(40)) < loss(trained(0)) - 0.5


def test_the_same_seed_takes_the_same_steps() -> None:
    assert trained(3).network.weights().digest() == trained(3).network.weights().digest()


def test_a_resumed_training_ends_in_the_same_weights(tmp_path: Path) -> None:
    half = trained(3)
    loop.save(half, tmp_path / "half.pt")
    resumed = Trainer(5, STEPS, SMALL)
    resumed.resume(torch.load(tmp_path / "half.pt", weights_only=True))
    for _ in range(3):
        half.advance()
        resumed.advance()
    assert resumed.network.weights().digest() == half.network.weights().digest()
