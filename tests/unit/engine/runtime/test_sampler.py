from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chisquare

from chaosgate.engine.runtime.sampler import Sampling, logprobs, probabilities, sample

LOGITS = np.array([0.0, 1.0, 2.0, -1.0, 0.5], np.float32)


def draws(sampling: Sampling, count: int, logits: np.ndarray = LOGITS, **more: object) -> list[int]:
    generator = sampling.generator()
    return [sample(logits, sampling, generator, **more) for _ in range(count)]


@pytest.mark.thorough
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


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_only_allowed_ids_are_drawn(temperature: float) -> None:
    assert set(draws(Sampling(temperature, seed=1), 300, allowed=np.array([0, 3]))) <= {0, 3}
    assert 0 in draws(Sampling(temperature, seed=1), 300, allowed=np.array([0, 3]))


def test_probabilities_after_temperature_and_top_p() -> None:
    shares = probabilities(LOGITS, Sampling(2.0))
    assert shares == pytest.approx(np.exp(LOGITS / 2) / np.exp(LOGITS / 2).sum())
    cut = probabilities(LOGITS, Sampling(1.0, top_p=0.6))
    assert cut == pytest.approx([0, math.exp(1) / (math.exp(1) + math.exp(2)), 1 - cut[1], 0, 0])
    assert probabilities(LOGITS, Sampling(0.0)).tolist() == [0, 0, 1, 0, 0]


def test_probabilities_can_be_changed_before_the_draw() -> None:
    def only_three(shares: np.ndarray) -> np.ndarray:
        return np.array([0, 0, 0, 9.0, 0])

    assert set(draws(Sampling(1.0, seed=1), 20, change=only_three)) == {3}
    assert set(draws(Sampling(0.0), 20, change=only_three)) == {3}
    unchanged = draws(Sampling(1.0, seed=1), 100, change=lambda shares: shares)
    assert unchanged == draws(Sampling(1.0, seed=1), 100)


def test_probabilities_that_are_none_are_not_drawn() -> None:
    def broken(shares: np.ndarray) -> np.ndarray:
        return np.array([math.nan, math.inf, -5, 1, 1])

    assert set(draws(Sampling(1.0, seed=1), 200, change=broken)) == {3, 4}
    assert set(draws(Sampling(1.0, seed=1), 200, allowed=np.array([0, 3]), change=broken)) == {3}
    assert set(draws(Sampling(0.0), 5, change=np.zeros_like)) == {2}, "nothing left to draw is no change"


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_are_no_numbers_still_give_a_token(temperature: float) -> None:
    for logits in ([math.nan] * 5, [-math.inf] * 5, [math.inf] * 5, [math.nan, 1, math.inf, -math.inf, 0]):
        drawn = draws(Sampling(temperature, seed=1), 20, np.array(logits, np.float32))
        assert set(drawn) <= set(range(5))


def test_logprobs_are_those_of_the_softmax() -> None:
    chance, top = logprobs(LOGITS, 4, 2)
    logs = LOGITS - math.log(np.exp(LOGITS.astype(float)).sum())
    assert chance == pytest.approx(logs[4], abs=1e-6)
    assert [token for token, _ in top] == [2, 1]
    assert [chance for _, chance in top] == pytest.approx([logs[2], logs[1]], abs=1e-6)
    assert logprobs(LOGITS, 4, 0)[1] == ()
    assert math.isfinite(logprobs(np.array([math.nan, -math.inf, 0], np.float32), 0, 3)[0])
