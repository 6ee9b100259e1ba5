"""Continuous batching: requests join and leave the batch between decoding steps."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from chaosgate.engine.cache import KVCache
from chaosgate.engine.config import EngineConfig
from chaosgate.engine.sequence import Delta, Generation, Sequence
from chaosgate.engine.transformer import Transformer
from chaosgate.errors import ChaosgateError

Deliveries = list[tuple[Sequence, Delta]]
Deliver = Callable[[Deliveries], None]


class QueueFullError(ChaosgateError):
    """As many requests wait as may wait."""


class EngineDeadError(ChaosgateError):
    """The engine was shut down or its compute thread failed; nothing will be generated any more."""

    def __init__(self) -> None:
        super().__init__("the engine was shut down or its compute thread failed; restart the engine")


class Scheduler:
    """The waiting queue and the running batch. `submit`, `cancel` and the counts are safe from any thread.

    `step` and `fail_all` are for the one thread that computes; `deliver` is called there with the tokens of each phase
    of a step.
    """

    def __init__(self, model: Transformer, config: EngineConfig, deliver: Deliver) -> None:
        self._model = model
        self._config = config
        self._deliver = deliver
        self._cache = KVCache(model.config, config.max_num_seqs)
        self._waiting: deque[Sequence] = deque()
        self._running: list[Sequence] = []
        self._changed = threading.Condition()
        self._closed = False

    @property
    def closed(self) -> bool:
        """True once nothing is taken or computed any more."""
        return self._closed

    @property
    def waiting(self) -> int:
        """Requests that have no slot yet."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Requests that hold a slot."""
        return len(self._running)

    @property
    def cache_usage(self) -> float:
        """Share of the KV cache's positions in use, 0 to 1."""
        return self._cache.usage

    def submit(self, generation: Generation) -> Sequence:
        """Queues a request whose prompt and answer fit into the model's context.

        Raises QueueFullError when `max_waiting` requests wait, EngineDeadError after `close` or `fail_all`.
        """
        sequence = Sequence(generation)
        with self._changed:
            if self._closed:
                raise EngineDeadError
            if len(self._waiting) >= self._config.max_waiting:
                raise QueueFullError(
                    f"the waiting queue is full: {len(self._waiting)} requests wait, {self._config.max_waiting} are"
                    " allowed; try again later"
                )
            self._waiting.append(sequence)
            self._changed.notify()
        return sequence

    def cancel(self, sequence: Sequence) -> None:
        """Ends a request early; its slot is free from the next step on. Without effect on a finished one."""
        with self._changed:
            sequence.cancelled = True
            self._changed.notify()

    def close(self) -> None:
        """Refuses new requests and makes `wait` return False."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def wait(self) -> bool:
        """Blocks until there is something to compute (True) or the scheduler is closed (False)."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._waiting or self._running)
            return not self._closed

    def step(self) -> None:
        """One round: retire the cancelled, prefill the newcomers, decode one token for every running request."""
        self._retire()
        self._deliver([(sequence, self._prefill(sequence)) for sequence in self._admit()])
        self._retire()
        self._deliver(self._decode())
        self._retire()

    def fail_all(self) -> None:
        """Closes and ends every open request with finish "error"."""
        self.close()
        with self._changed:
            lost = [*self._running, *self._waiting]
            self._waiting.clear()
            self._running.clear()
        self._deliver([(sequence, Delta("", "error", time.monotonic())) for sequence in lost])

    def _retire(self) -> None:
        with self._changed:
            gone = [sequence for sequence in self._running if sequence.finished or sequence.cancelled]
            # Slots first: whoever sees that a request runs no longer also sees that its slot is free.
            for sequence in gone:
                self._cache.release(sequence.slot)
            self._running = [sequence for sequence in self._running if sequence not in gone]
            if any(sequence.cancelled for sequence in self._waiting):
                self._waiting = deque(sequence for sequence in self._waiting if not sequence.cancelled)

    def _admit(self) -> list[Sequence]:
        admitted: list[Sequence] = []
        budget = self._config.prefill_budget
        with self._changed:
            while self._waiting and self._cache.free and budget > 0:
                sequence = self._waiting.popleft()
                sequence.slot = self._cache.acquire()
                budget -= len(sequence.generation.prompt)
                admitted.append(sequence)
            self._running.extend(admitted)
        return admitted

    def _prefill(self, sequence: Sequence) -> Delta:
        return sequence.advance(self._model.prefill(self._cache, sequence.slot, sequence.generation.prompt))

    def _decode(self) -> Deliveries:
        batch = list(self._running)
        if not batch:
            return []
        slots = np.array([sequence.slot for sequence in batch])
        tokens = np.array([sequence.last_token for sequence in batch])
        logits = self._model.decode(self._cache, slots, tokens)
        return [(sequence, sequence.advance(row)) for sequence, row in zip(batch, logits, strict=True)]
