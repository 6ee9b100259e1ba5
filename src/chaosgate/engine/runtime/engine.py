"""The engine in one piece: model, scheduler and compute thread, for use from an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace

from chaosgate.engine.network import adapters, weights
from chaosgate.engine.network.adapters import Adapter
from chaosgate.engine.network.attention import TILE, KVPool
from chaosgate.engine.network.batch import whole
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.network.vocabulary import BOS
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.scheduler import Deliveries, EngineDeadError, Scheduler
from chaosgate.engine.runtime.sequence import Delta, Generation, Sequence
from chaosgate.errors import ChaosgateError
from chaosgate.model.sites import Hooks


class RequestFailedError(ChaosgateError):
    """One request that could not be finished, such as one whose hook failed; the engine goes on."""


class Engine:
    """Generates for many requests at once in one thread of its own, which sleeps while there is nothing to do.

    Made in a running event loop; all methods belong to that loop's thread. `hooks` are installed on every request,
    before those of its own.
    """

    def __init__(
        self, config: EngineConfig, model_config: ModelConfig | None = None, hooks: Hooks | None = None
    ) -> None:
        self.config = config
        self.model_config = model_config or ModelConfig()
        seed = config.seed
        parameters = weights.shipped() if seed is None else weights.seeded(self.model_config, seed)
        self.adapters: Mapping[str, Adapter] = adapters.shipped() if seed is None else {}
        self.weights_digest = parameters.digest()
        model = Transformer(self.model_config, parameters)
        _warm_up(model)
        self.scheduler = Scheduler(model, config, self._deliver, self.adapters)
        self._hooks = hooks
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

        Leaving the iteration early (`aclose`, cancellation) cancels the request. Raises RefusedError, UnknownSiteError
        or QueueFullError before the first token, RequestFailedError when a hook of the request fails, EngineDeadError
        when the compute thread has ended or ends meanwhile.
        """
        sequence = self.scheduler.submit(self._with_hooks(generation))
        queue = self._open[sequence] = asyncio.Queue()
        try:
            finish = None
            while finish is None:
                delta = await queue.get()
                finish = delta.finish
                if finish == "error":
                    raise RequestFailedError(delta.error) if delta.error else EngineDeadError
                yield delta
        finally:
            del self._open[sequence]
            self.scheduler.cancel(sequence)

    def close(self) -> None:
        """Ends the compute thread after the step it is in."""
        self.scheduler.close()
        self._thread.join()

    def _with_hooks(self, generation: Generation) -> Generation:
        if self._hooks is None:
            return generation
        hooks = self._hooks if generation.hooks is None else self._hooks.then(generation.hooks)
        return replace(generation, hooks=hooks)

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
    pool = KVPool(model.config, 1, TILE)
    model.forward(pool, whole(pool, [BOS]), [0])
