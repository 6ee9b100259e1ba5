"""From logits to the next token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chaosgate.engine.weights import Array


@dataclass(frozen=True)
class Sampling:
    """How a request wants its tokens drawn: `temperature` 0 takes the best token, `seed` None draws anew each time."""

    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None

    def generator(self) -> np.random.Generator:
        """The request's own generator: the same draws at any concurrency."""
        return np.random.Generator(np.random.PCG64(self.seed))


def sample(logits: Array, sampling: Sampling, generator: np.random.Generator) -> int:
    """A token id drawn from softmax(logits / temperature), cut to the nucleus of mass `top_p` (arXiv 1904.09751)."""
    if sampling.temperature == 0:
        return int(logits.argmax())
    scaled = logits.astype(np.float64) / sampling.temperature
    order = np.argsort(-scaled, kind="stable")
    masses = np.cumsum(np.exp(scaled[order] - scaled[order[0]]))
    nucleus = int(np.searchsorted(masses, sampling.top_p * masses[-1])) + 1
    drawn = generator.random() * masses[min(nucleus, len(masses)) - 1]
    return int(order[np.searchsorted(masses, drawn, side="right")])
