from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.experts import FEW_ROWS, Experts, route
from chaosgate.engine.network.weights import Weights

RANDOM = np.random.default_rng(5)


@pytest.fixture(scope="module")
def experts(config: ModelConfig, weights: Weights) -> Experts:
    return Experts(config, weights.layers[1], 1)


def test_two_experts_share_the_weight() -> None:
    logits = RANDOM.standard_normal((50, 8), dtype=np.float32)
    chosen, weights = route(logits, 2)
    assert_array_equal(chosen, np.argsort(-logits, axis=1)[:, :2])
    assert_allclose(weights.sum(axis=1), 1, atol=1e-6)
    ratio = np.exp(np.take_along_axis(logits, chosen, 1) @ [1, -1])
    assert_allclose(weights[:, 0] / weights[:, 1], ratio, rtol=1e-4)


def test_of_equal_router_logits_the_lower_index_wins() -> None:
    chosen, weights = route(np.zeros((1, 8), np.float32), 2)
    assert chosen.tolist() == [[0, 1]]
    assert weights.tolist() == [[0.5, 0.5]]


def test_equals_all_experts_computed_and_weighted(config: ModelConfig, weights: Weights, experts: Experts) -> None:
    x = RANDOM.standard_normal((20, config.d_model), dtype=np.float32)
    chosen, shares = route(x @ weights.layers[1].router, 2)
    expected = np.zeros_like(x)
    for expert in range(config.experts):
        share = np.where(chosen == expert, shares, 0).sum(axis=1)
        expected += share[:, None] * experts.one(expert, x)
    assert_allclose(experts(x, None), expected, atol=1e-4)


def test_a_row_is_bit_equal_in_few_rows_and_in_many(config: ModelConfig, experts: Experts) -> None:
    x = RANDOM.standard_normal((5 * FEW_ROWS, config.d_model), dtype=np.float32)
    together = experts(x, None)
    for count in (1, FEW_ROWS, FEW_ROWS + 1):
        assert_array_equal(experts(x[:count], None), together[:count])
