"""Requests held back until they are due, all of which can be let go at once."""

from __future__ import annotations

import asyncio

from chaosgate.gateway.clock import Clock
from chaosgate.serving import TICK


class Sleepers:
    """Holds requests until a time on the gateway's clock. Only `release` lets one go early."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._naps: set[asyncio.Future[None]] = set()
        self._released = False

    async def until(self, due: float) -> bool:
        """Return at `due` or later with True, or with False as soon as everything was released."""
        while not self._released and (left := due - self._clock.now()) > 0:
            # For the last of it the loop turns, and serves others meanwhile: a timer would let go up to a tick late.
            await (self._nap(left - TICK) if left > TICK else asyncio.sleep(0))
        return self._clock.now() >= due

    def release(self) -> None:
        """Let everyone go, and hold nobody from now on."""
        self._released = True
        for nap in self._naps:
            _wake(nap)

    async def _nap(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        nap: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _wake, nap)
        self._naps.add(nap)
        try:
            await nap
        finally:
            timer.cancel()
            self._naps.discard(nap)


def _wake(nap: asyncio.Future[None]) -> None:
    if not nap.done():
        nap.set_result(None)
