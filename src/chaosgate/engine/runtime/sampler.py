"""From logits to the next token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chaosgate.engine.network.stored import Array, Ints

Shares = NDArray[np.float64]


@dataclass(frozen=True)
class Sampling:
    """How a request wants its tokens drawn: `temperature` 0 takes the best token, `seed` None draws anew each time."""

    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None

    def generator(self) -> np.random.Generator:
        """The request's own generator: the same draws at any concurrency."""
        return np.random.Generator(np.random.PCG64(self.seed))


def sample(
    logits: Array,
    sampling: Sampling,
    generator: np.random.Generator,
    allowed: Ints | None = None,
    change: Callable[[Shares], Shares] | None = None,
) -> int:
    """A token id drawn from softmax(logits / temperature), cut to the nucleus of mass `top_p` (arXiv 1904.09751).

    Only `allowed` ids are drawn, None allows all. `change` is given the probabilities of all ids and gives back others,
    scaled or not; an id that it makes negative or not a number is not drawn.
    """
    eligible = logits if allowed is None else logits[allowed]
    if sampling.temperature == 0 and change is None:
        drawn = int(eligible.argmax())
    else:
        shares = _changed(probabilities(eligible, sampling), len(logits), allowed, change)
        drawn = int(shares.argmax()) if sampling.temperature == 0 else _draw(shares, generator)
    return drawn if allowed is None else int(allowed[drawn])


def probabilities(logits: Array, sampling: Sampling) -> Shares:
    """The probability of each id after temperature and top-p; temperature 0 gives the best one all."""
    if sampling.temperature == 0:
        shares = np.zeros(len(logits))
        shares[logits.argmax()] = 1
        return shares
    scaled = _finite(logits) / sampling.temperature
    masses = np.exp(scaled - scaled.max())
    if sampling.top_p < 1:
        order = np.argsort(-masses, kind="stable")
        summed = np.cumsum(masses[order])
        masses[order[np.searchsorted(summed, sampling.top_p * summed[-1]) + 1 :]] = 0
    return np.asarray(masses / masses.sum())


def logprobs(logits: Array, token: int, best: int) -> tuple[float, tuple[tuple[int, float], ...]]:
    """The natural logarithm of `token`'s probability under softmax(logits), and the `best` ids with theirs."""
    finite = _finite(logits)
    peak = finite.max()
    logs = finite - (peak + np.log(np.exp(finite - peak).sum()))
    order = np.argsort(-logs, kind="stable")[:best]
    return float(logs[token]), tuple((int(index), float(logs[index])) for index in order)


LEAST = -1e30
"""Stands for a logit that is minus infinity or no number, as a fault may make it: nothing an answer holds is NaN."""


def _finite(logits: Array) -> Shares:
    return np.nan_to_num(logits.astype(np.float64), nan=LEAST, posinf=-LEAST, neginf=LEAST)


def _changed(shares: Shares, count: int, allowed: Ints | None, change: Callable[[Shares], Shares] | None) -> Shares:
    if change is None:
        return shares
    whole = shares
    if allowed is not None:
        whole = np.zeros(count)
        whole[allowed] = shares
    answer = change(whole)
    answer = np.nan_to_num(answer if allowed is None else answer[allowed], nan=0, posinf=0).clip(0)
    return answer if answer.any() else shares


def _draw(shares: Shares, generator: np.random.Generator) -> int:
    masses = np.cumsum(shares)
    # A draw lies below the last mass, yet rounding may put it on it.
    last = int(np.searchsorted(masses, masses[-1]))
    return min(int(np.searchsorted(masses, generator.random() * masses[-1], side="right")), last)
