"""A load with everything that was observed of it, sent by one process or by several."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from chaosgate.loadgen.generator import LoadSettings
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.loadgen.workers import Load, open_load
from chaosgate.model.observation import Observation


class ObservedLoad:
    """One phase of load and what it observed."""

    def __init__(self, settings: LoadSettings) -> None:
        self.settings = settings
        self.observations: list[Observation] = []
        self.clock = PhaseClock()
        self.until = asyncio.Event()
        self.sender: Load = open_load(settings, self.observations.append, self.clock)

    async def run(self) -> list[Observation]:
        """Send all of it; what was observed."""
        await self.sender.prepare()
        self.clock.restart()
        await self.sender.run(self.until)
        return self.observations

    @property
    def numbers(self) -> list[int]:
        """The numbers of the requests that were observed, sorted."""
        return sorted(int(seen.request.rpartition(".")[2]) for seen in self.observations)


async def until_true(condition: Callable[[], bool]) -> None:
    """Wait for `condition`, of which nobody says when it comes; a minute at most."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
