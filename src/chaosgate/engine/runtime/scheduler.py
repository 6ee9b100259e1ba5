"""Continuous batching: requests join and leave the batch between steps, and long prompts are read in parts."""

from __future__ import annotations

import threading
import time
from bisect import insort
from collections import deque
from collections.abc import Callable, Mapping

from chaosgate.engine.network.adapters import Adapter
from chaosgate.engine.network.sites import HookError
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.runtime.admission import admitted
from chaosgate.engine.runtime.cache import PagedCache
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.responses import ResponseCache
from chaosgate.engine.runtime.sequence import Delta, Generation, Sequence
from chaosgate.engine.runtime.step import Work, compute
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

    `step` and `fail_all` are for the one thread that computes; `deliver` is called there with the tokens of each step.
    """

    def __init__(
        self, model: Transformer, config: EngineConfig, deliver: Deliver, adapters: Mapping[str, Adapter] | None = None
    ) -> None:
        self._model = model
        self._config = config
        self._deliver = deliver
        self._adapters = adapters or {}
        sizes = (config.max_num_seqs, config.num_blocks, config.block_size)
        self.cache = PagedCache(model.config, *sizes, sharing=config.enable_prefix_caching)
        self._responses = ResponseCache(config.response_cache)
        self._arrived: deque[Sequence] = deque()
        self._waiting: list[Sequence] = []
        self._running: list[Sequence] = []
        self._arrivals = 0
        self._changed = threading.Condition()
        self._closed = False
        self.preemptions = 0
        """How often a running request lost its blocks to an older one."""

    @property
    def closed(self) -> bool:
        """True once nothing is taken or computed any more."""
        return self._closed

    @property
    def waiting(self) -> int:
        """Requests that hold no blocks: new ones and those that were preempted."""
        return len(self._arrived) + len(self._waiting)

    @property
    def running(self) -> int:
        """Requests that hold blocks."""
        return len(self._running)

    @property
    def cache_usage(self) -> float:
        """Share of the KV cache's blocks in use, 0 to 1."""
        return self.cache.usage

    def submit(self, generation: Generation) -> Sequence:
        """Queues a request.

        Raises RefusedError for one that can never be answered, QueueFullError when `max_waiting` requests wait,
        EngineDeadError after `close` or `fail_all`.
        """
        sequence = admitted(generation, self._model.config, self._config, self._adapters)
        with self._changed:
            if self._closed:
                raise EngineDeadError
            if self.waiting >= self._config.max_waiting:
                raise QueueFullError(
                    f"the waiting queue is full: {self.waiting} requests wait, {self._config.max_waiting} are"
                    " allowed; try again later"
                )
            self._arrived.append(sequence)
            self._changed.notify()
        return sequence

    def cancel(self, sequence: Sequence) -> None:
        """Ends a request early; its blocks are free from the next step on. Without effect on a finished one."""
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
            self._changed.wait_for(lambda: self._closed or self.waiting or self._running)
            return not self._closed

    def step(self) -> None:
        """One round: retire the cancelled, let newcomers in, compute a batch, hand out one token a request."""
        self._retire()
        deliveries = self._arrive()
        work = self._plan()
        if work:
            deliveries += self._computed(work)
        self._deliver(deliveries)
        self._retire()

    def fail_all(self) -> None:
        """Closes and ends every open request with finish "error"."""
        self.close()
        with self._changed:
            lost = [*self._running, *self._waiting, *self._arrived]
            for queue in (self._running, self._waiting, self._arrived):
                queue.clear()
        self._deliver([(sequence, Delta("", "error", time.monotonic())) for sequence in lost])

    def _retire(self) -> None:
        if gone := [sequence for sequence in self._running if sequence.finished or sequence.cancelled]:
            # Blocks first: whoever sees that a request runs no longer also sees that its blocks are free.
            for sequence in gone:
                self._give_back(sequence)
            self._running = [sequence for sequence in self._running if sequence not in gone]
        if any(sequence.cancelled for sequence in self._waiting):
            self._waiting = [sequence for sequence in self._waiting if not sequence.cancelled]

    def _arrive(self) -> Deliveries:
        """Puts new requests in line, or answers them at once: from the response cache, or with what went wrong."""
        deliveries: Deliveries = []
        while self._arrived:
            sequence = self._arrived[0]
            self._arrivals += 1
            try:
                sequence.enter(self._arrivals, self._model.config.vocab_size)
            except HookError as error:
                deliveries.append((sequence, sequence.fail(str(error))))
            else:
                deliveries += self._line_up(sequence)
            self._arrived.popleft()
        return deliveries

    def _line_up(self, sequence: Sequence) -> Deliveries:
        if kept := self._responses.find(sequence.generation, time.monotonic()):
            return [(sequence, delta) for delta in kept]
        insort(self._waiting, sequence, key=lambda waiting: waiting.place)
        return []

    def _plan(self) -> Work:
        """How many tokens of which request this step computes: whoever generates first, then parts of prompts."""
        work: Work = {}
        budget = self._config.max_num_batched_tokens
        preempted = self.preemptions
        for sequence in sorted(self._running, key=lambda running: running.due > 1):
            count = min(sequence.due, budget)
            if count and sequence.holding is not None and self._room(sequence, count, work):
                work[sequence] = count
                budget -= count
        if preempted == self.preemptions:
            self._admit(work, budget)
        return work

    def _room(self, sequence: Sequence, count: int, work: Work) -> bool:
        """Finds blocks for `count` more tokens, if need be by preempting the youngest; False if that is this one."""
        while sequence.holding is not None:
            if self.cache.grow(sequence.holding, sequence.computed + count):
                return True
            youngest = self._running[-1]
            work.pop(youngest, None)
            self._preempt(youngest)
        return False

    def _preempt(self, sequence: Sequence) -> None:
        """Takes the blocks away; its tokens are computed anew once it is admitted again."""
        self._give_back(sequence)
        sequence.computed = 0
        self._running.remove(sequence)
        insort(self._waiting, sequence, key=lambda waiting: waiting.place)
        self.preemptions += 1

    def _admit(self, work: Work, budget: int) -> None:
        while self._waiting and budget and self.cache.slots:
            sequence = self._waiting[0]
            sequence.holding = holding = self.cache.begin(sequence.tokens, sequence.key, sequence.replaces)
            sequence.computed = holding.known * self._config.block_size
            count = min(sequence.due, budget)
            if not self.cache.grow(holding, sequence.computed + count):
                self._give_back(sequence)
                return
            self.cache.count(holding, len(sequence.tokens))
            sequence.admitted()
            # Running before waiting: nobody sees that there is nothing to do in between.
            self._running.append(sequence)
            self._waiting.pop(0)
            work[sequence] = count
            budget -= count

    def _give_back(self, sequence: Sequence) -> None:
        if sequence.holding is not None:
            self.cache.end(sequence.holding)
            sequence.holding = None

    def _computed(self, work: Work) -> Deliveries:
        deliveries = compute(self._model, self.cache, work, self._adapters)
        if self._config.response_cache:
            for sequence, delta in deliveries:
                sequence.answer.append(delta)
                if sequence.finished and delta.finish != "error":
                    self._responses.keep(sequence.generation, sequence.answer)
        return deliveries
