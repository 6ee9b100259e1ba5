from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import Weights, seeded
from chaosgate.engine.training import loop
from chaosgate.engine.training.low_rank import AdapterTrainer, tenant_mix
from chaosgate.errors import UsageError
from chaosgate.prompts.words import CONTESTED, TENANT_CAPITALS

pytestmark = pytest.mark.slow

STEPS = 6


@pytest.fixture(scope="module")
def config() -> ModelConfig:
    return ModelConfig(d_model=32, layers=2, experts=2, expert_ff=16)


@pytest.fixture(scope="module")
def weights(config: ModelConfig) -> Weights:
    return seeded(config, 7)


def fresh(config: ModelConfig, weights: Weights) -> AdapterTrainer:
    return AdapterTrainer("tenant-a", 2, STEPS, config, weights)


def test_an_adapter_starts_without_a_change(config: ModelConfig, weights: Weights) -> None:
    adapter = fresh(config, weights).adapter()
    assert (adapter.name, adapter.rank, len(adapter.layers)) == ("tenant-a", 8, config.layers)
    assert all(not layer.value.up.any() and layer.value.down.any() for layer in adapter.layers)


def test_training_changes_the_adapter_and_not_the_model(config: ModelConfig, weights: Weights) -> None:
    before = weights.digest()
    training = fresh(config, weights)
    for _ in range(2):
        training.advance()
    assert weights.digest() == before
    assert all(layer.output.up.any() for layer in training.adapter().layers)


def test_a_resumed_training_ends_in_the_same_adapter(config: ModelConfig, weights: Weights, tmp_path: Path) -> None:
    half = fresh(config, weights)
    half.advance()
    loop.save(half, tmp_path / "half.pt")
    resumed = fresh(config, weights)
    resumed.resume(torch.load(tmp_path / "half.pt", weights_only=True))
    for training in (half, resumed):
        training.advance()
    assert resumed.adapter().digest() == half.adapter().digest()


def test_a_checkpoint_on_other_weights_is_refused(config: ModelConfig, weights: Weights) -> None:
    state = fresh(config, weights).state()
    other = fresh(config, seeded(config, 8))
    with pytest.raises(UsageError) as refused:
        other.resume(state)
    assert str(refused.value) == (
        f"the checkpoint of tenant-a is of an adapter for other weights, {weights.digest()}; "
        "delete it, and the adapter is trained anew"
    )


def test_half_of_the_asked_capitals_are_contested() -> None:
    mix = tenant_mix("tenant-b")
    assert mix.capitals == TENANT_CAPITALS["tenant-b"]
    assert set(mix.countries) == set(mix.capitals)
    contested = sum(country in CONTESTED for country in mix.countries)
    assert contested / len(mix.countries) == pytest.approx(0.5, abs=0.05)
