from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from chaosgate.engine import vocabulary
from chaosgate.engine.config import ModelConfig
from chaosgate.engine.weights import Weights, seeded

SEED_7 = "sha256:f02a9fb2df61c6177488e95d97020ce89a08f7e24bb580b0c84cf822bd32d272"


def test_the_digest_of_a_seed_is_fixed(config: ModelConfig, weights: Weights) -> None:
    assert weights.digest() == SEED_7
    assert seeded(config, 8).digest() != SEED_7


def test_another_process_makes_the_same_weights() -> None:
    code = (
        "from chaosgate.engine.config import ModelConfig as C; from chaosgate.engine.weights import seeded;"
        "print(seeded(C(), 7).digest())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == SEED_7


def test_the_digest_sees_one_changed_bit(config: ModelConfig) -> None:
    changed = seeded(config, 7)
    router = changed.layers[2].router
    router[5, 3] = np.nextafter(router[5, 3], np.float32(9))
    assert changed.digest() != SEED_7


def test_shapes_are_those_of_the_architecture(weights: Weights) -> None:
    layer = weights.layers[0]
    assert len(weights.layers) == 3
    assert weights.embedding.shape == (512, 128)
    assert layer.qkv.shape == (128, (4 + 2 + 2) * 32)
    assert layer.output.shape == (128, 128)
    assert layer.router.shape == (128, 8)
    assert layer.gate_up.shape == (128, 8 * 2 * 64)
    assert layer.down.shape == (8 * 64, 128)
    assert all(array.dtype == np.float32 for _, array in weights.named())


def test_the_spread_follows_the_fan_in(weights: Weights) -> None:
    layer = weights.layers[1]
    assert layer.qkv.std() == pytest.approx(128**-0.5, rel=0.02)
    assert layer.down.std() == pytest.approx(64**-0.5 / 6**0.5, rel=0.02)
    assert weights.embedding.std() == pytest.approx(0.3, rel=0.02)
    assert abs(weights.embedding.mean()) < 0.005


def test_the_head_prefers_prose(weights: Weights) -> None:
    prose = np.zeros(512, bool)
    prose[list(vocabulary.PROSE)] = True
    assert prose.sum() == 128
    assert weights.head[:, prose].std() > 50 * weights.head[:, ~prose].std()
