"""The engine in one piece: model, scheduler and compute thread, for use from an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator

import numpy as np

from chaosgate.engine.cache import KVCache
from chaosgate.engine.config import EngineConfig, ModelConfig
from chaosgate.engine.scheduler import Deliveries, EngineDeadError, Scheduler
from chaosgate.engine.sequence import Delta, Generation, Sequence
from chaosgate.engine.transformer import Transformer
from chaosgate.engine.vocabulary import BOS
from chaosgate.engine.weights import seeded


class Engine:
    """Generates for many requests at once in one thread of its own, which sleeps while there is nothing to do.

    Made in a running event loop; all methods belong to that loop's thread.
    """

    def __init__(self, config: EngineConfig, model_config: ModelConfig | None = None) -> None:
        self.config = config
        self.model_config = model_config or ModelConfig()
        weights = seeded(self.model_config, config.seed)
        self.weights_digest = weights.digest()
        model = Transformer(self.model_config, weights)
        _warm_up(model)
        self.scheduler = Scheduler(model, config, self._deliver)
        self._loop = asyncio.get_running_loop()
        self._open: dict[Sequence, asyncio.Queue[Delta]] = {}
        self._thread = threading.Thread(target=self._compute, name="chaosgate-engine", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """False once the compute thread ends, for whatever reason."""
        return not self.scheduler.closed

    async def generate(self, generation: Generation) -> AsyncGenerator[Delta]:
        """Yields each token as it is made, the last one with `finish`.

        Leaving the iteration early (`aclose`, cancellation) cancels the request. Raises QueueFullError before the first
        token, EngineDeadError when the compute thread has ended or ends meanwhile.
        """
        sequence = self.scheduler.submit(generation)
        queue = self._open[sequence] = asyncio.Queue()
        try:
            finish = None
            while finish is None:
                delta = await queue.get()
                finish = delta.finish
                if finish == "error":
                    raise EngineDeadError
                yield delta
        finally:
            del self._open[sequence]
            self.scheduler.cancel(sequence)

    def close(self) -> None:
        """Ends the compute thread after the step it is in."""
        self.scheduler.close()
        self._thread.join()

    def _compute(self) -> None:
        # Whatever ends this loop, an exception too, must not leave a request waiting for ever. The exception itself
        # goes to threading.excepthook, which prints it.
        try:
            while self.scheduler.wait():
                self.scheduler.step()
        finally:
            self.scheduler.fail_all()

    def _deliver(self, deliveries: Deliveries) -> None:
        # One wake-up of the loop for the whole batch; a closed loop has nobody left to tell.
        if deliveries and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._dispatch, deliveries)

    def _dispatch(self, deliveries: Deliveries) -> None:
        for sequence, delta in deliveries:
            queue = self._open.get(sequence)
            if queue is not None:
                queue.put_nowait(delta)


def _warm_up(model: Transformer) -> None:
    """Lets the BLAS take its buffers now: the first request would wait several times as long as the next ones."""
    cache = KVCache(model.config, slots=1)
    model.prefill(cache, cache.acquire(), [BOS])
    model.decode(cache, np.array([0]), np.array([BOS]))
