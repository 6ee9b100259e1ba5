from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from chaosgate.engine.sampler import Sampling, sample

LOGITS = np.array([0.0, 1.0, 2.0, -1.0, 0.5], np.float32)


def draws(sampling: Sampling, count: int) -> list[int]:
    generator = sampling.generator()
    return [sample(LOGITS, sampling, generator) for _ in range(count)]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_draws_follow_the_softmax(temperature: float) -> None:
    count = 20_000
    shares = np.exp(LOGITS.astype(float) / temperature)
    seen = np.bincount(draws(Sampling(temperature, seed=11), count), minlength=5)
    assert chisquare(seen, count * shares / shares.sum()).pvalue > 0.001


def test_temperature_zero_takes_the_best() -> None:
    assert set(draws(Sampling(0.0), 50)) == {2}


def test_a_seed_repeats_and_no_seed_does_not() -> None:
    assert draws(Sampling(1.0, seed=3), 100) == draws(Sampling(1.0, seed=3), 100)
    assert draws(Sampling(1.0, seed=3), 100) != draws(Sampling(1.0, seed=4), 100)
    assert draws(Sampling(1.0), 100) != draws(Sampling(1.0), 100)


def test_top_p_keeps_the_smallest_set_that_reaches_it() -> None:
    # Shares at temperature 1: token 2 has 0.546, token 1 has 0.201, token 4 has 0.122.
    assert set(draws(Sampling(1.0, top_p=0.5, seed=1), 500)) == {2}
    assert set(draws(Sampling(1.0, top_p=0.6, seed=1), 500)) == {1, 2}
    assert set(draws(Sampling(1.0, top_p=0.8, seed=1), 500)) == {1, 2, 4}


def test_a_tiny_temperature_does_not_overflow() -> None:
    assert set(draws(Sampling(1e-6, seed=1), 20)) == {2}
