import numpy as np
import pytest

from chaosgate.statistics.likelihood import Counts
from chaosgate.statistics.screen import monotone


def sweep(random: np.random.Generator, shares: list[float], rho: float) -> Counts:
    """4 windows of 40 requests at each of the doses 0, 1, 2..."""
    doses = np.repeat(np.arange(len(shares), dtype=float), 4)
    means = np.repeat(shares, 4)
    drawn = random.beta(means * (1 - rho) / rho, (1 - means) * (1 - rho) / rho)
    return Counts(doses, random.binomial(40, drawn).astype(float), np.full(len(doses), 40.0))


@pytest.mark.parametrize("rho", [1e-6, 0.05])
def test_a_level_response_is_rarely_called_a_drop(rho: float) -> None:
    random = np.random.default_rng(2)
    called = sum(monotone(sweep(random, [0.2] * 5, rho), "number") is not None for _ in range(300))
    assert called <= 0.08 * 300


def test_a_real_drop_is_found() -> None:
    random = np.random.default_rng(2)
    called = sum(monotone(sweep(random, [0.02, 0.6, 0.2, 0.9], 0.02), "number") is not None for _ in range(50))
    assert called >= 45


def test_the_steepest_significant_drop_is_named() -> None:
    counts = Counts(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 80.0, 60.0, 10.0]), np.full(4, 100.0))
    text = "not monotone: 80 % broke the bound at 1 and 10 % at 3; no threshold separates the doses"
    assert monotone(counts, "number") == text
