"""Waiting until something is due, of which all who wait can be let go at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

TICK = 0.001
"""What the timers of the event loop count in, in seconds: they fire up to so much early or late (libuv)."""


class Sleepers:
    """Holds whoever waits until a time on the clock that `now` reads. Only `release` lets one go early."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._naps: set[asyncio.Future[None]] = set()
        self._released = False

    async def until(self, due: float, exact: bool = True) -> bool:
        """Return at `due` with True, or with False as soon as everything was released.

        An `exact` one turns the loop for the last tick, which serves others meanwhile; any other one is up to two
        ticks late and costs nothing.
        """
        while not self._released and (left := due - self._now()) > 0:
            if not exact:
                await self._nap(max(left, TICK))
            elif left > TICK:
                await self._nap(left - TICK)
            else:
                await asyncio.sleep(0)
        return self._now() >= due

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
