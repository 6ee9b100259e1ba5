"""A scheduler that tests step by hand."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Many

import numpy as np

from chaosgate.engine.network.adapters import Adapter
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.sampler import Sampling
from chaosgate.engine.runtime.scheduler import Deliveries, Scheduler
from chaosgate.engine.runtime.sequence import Delta, Generation, Sequence


class Driven:
    """A scheduler with what it delivered."""

    def __init__(self, model: Transformer, adapters: Mapping[str, Adapter] | None = None, **sizes: object) -> None:
        self.scheduler = Scheduler(model, EngineConfig(seed=7, **sizes), self._deliver, adapters)
        self.deltas: dict[Sequence, list[Delta]] = {}

    def _deliver(self, deliveries: Deliveries) -> None:
        for sequence, delta in deliveries:
            self.deltas.setdefault(sequence, []).append(delta)

    def submit(self, prompt: Many[int], tokens: int, temperature: float = 0.0, **more: object) -> Sequence:
        generation = Generation(tuple(map(int, prompt)), tokens, Sampling(temperature, seed=tokens), **more)
        return self.scheduler.submit(generation)

    def drain(self) -> None:
        while self.scheduler.waiting or self.scheduler.running:
            self.scheduler.step()

    def run(self, *arguments: object, **more: object) -> list[int]:
        """The tokens of one request, alone."""
        sequence = self.submit(*arguments, **more)
        self.drain()
        return self.tokens(sequence)

    def tokens(self, sequence: Sequence) -> list[int]:
        return [delta.token for delta in self.deltas.get(sequence, []) if delta.finish != "error"]

    def text(self, sequence: Sequence) -> str:
        return "".join(delta.text for delta in self.deltas.get(sequence, []))

    def finish(self, sequence: Sequence) -> str | None:
        return self.deltas[sequence][-1].finish if sequence in self.deltas else None

    def error(self, sequence: Sequence) -> str:
        return self.deltas[sequence][-1].error


def drawn(count: int, seed: int = 0) -> list[int]:
    """A prompt of random tokens."""
    return [int(token) for token in np.random.default_rng(seed).integers(0, 512, count)]
