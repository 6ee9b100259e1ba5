from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from chaosgate.engine.network import stored, vocabulary
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import Weights, from_arrays, initial, seeded, shapes, shipped
from chaosgate.errors import UsageError

SEED_7 = "sha256:a965e5f6c35740ab83723e74ff91b3164159241a57d5b5ae1166cac45f252ad1"


def test_the_digest_of_a_seed_is_fixed(config: ModelConfig, weights: Weights) -> None:
    assert weights.digest() == SEED_7
    assert seeded(config, 8).digest() != SEED_7


def test_another_process_makes_the_same_weights() -> None:
    code = (
        "from chaosgate.engine.network.config import ModelConfig as C;"
        "from chaosgate.engine.network.weights import seeded;"
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
    assert prose.sum() == 104
    assert weights.head[:, prose].std() > 50 * weights.head[:, ~prose].std()


def test_training_starts_from_the_same_numbers_with_a_plain_head(config: ModelConfig, weights: Weights) -> None:
    start = initial(config, 7)
    assert_array_equal(start.layers[1].down, weights.layers[1].down)
    assert start.head.std(axis=0) == pytest.approx(np.full(512, 128**-0.5), rel=0.3)


def test_arrays_by_name_make_the_same_weights(weights: Weights) -> None:
    assert from_arrays(dict(weights.named())).digest() == weights.digest()


def test_the_shapes_are_those_of_the_arrays(config: ModelConfig, weights: Weights) -> None:
    assert list(shapes(config).items()) == [(name, array.shape) for name, array in weights.named()]


@pytest.mark.parametrize("name", ["head", "layers.1.router", "layers.2.down"])
def test_weights_that_are_not_the_model_s_are_refused(weights: Weights, tmp_path: Path, name: str) -> None:
    arrays = dict(weights.named())
    stored.write("tiny", arrays, tmp_path)
    assert shipped(tmp_path).head.shape == (128, 512)
    for changed, said in (
        ({other: array for other, array in arrays.items() if other != name}, f"it lacks {name};"),
        ({**arrays, name: arrays[name][:-1]}, f"{name} has the shape "),
        ({**arrays, "layers.3.router": arrays["layers.1.router"]}, "it holds layers.3.router, which the model lacks;"),
    ):
        stored.write("tiny", changed, tmp_path)
        with pytest.raises(UsageError, match=re.escape(f"{tmp_path / 'tiny.safetensors'}: {said}")):
            shipped(tmp_path)


def test_a_missing_array_is_named(weights: Weights) -> None:
    arrays = dict(weights.named())
    del arrays["layers.1.router"]
    with pytest.raises(KeyError, match=r"layers\.1\.router"):
        from_arrays(arrays)
