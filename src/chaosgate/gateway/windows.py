"""Which faults are on: each for one window at a time, each with a time to live, all gone at a halt."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from chaosgate.gateway.clock import Clock
from chaosgate.gateway.timeline import OffReason, Timeline
from chaosgate.sleepers import Sleepers


class Conflict(Exception):
    """A window that cannot be opened now; the text says why."""


@dataclass(eq=False)
class ActiveWindow:
    """One stretch of time in which a fault is on at one dose."""

    fault: str
    window: int
    dose: float
    on: float
    """When it opened, on the gateway's clock."""
    expires: float
    """When it ends by itself, unless it is renewed."""
    off: float | None = None
    """When it ended."""
    applied: int = 0
    """Requests touched; those under way when it ends are still counted."""
    timer: asyncio.TimerHandle | None = field(default=None, repr=False)


class Windows:
    """Opens and closes windows, at most one a fault, and writes both into the timeline."""

    def __init__(self, clock: Clock, timeline: Timeline, sleepers: Sleepers) -> None:
        self._clock = clock
        self._timeline = timeline
        self._sleepers = sleepers
        self._active: dict[str, ActiveWindow] = {}
        self._last: dict[str, ActiveWindow] = {}
        self._halt: tuple[float, str] | None = None

    @property
    def halted(self) -> str | None:
        """Why the run was halted, None while it was not."""
        return None if self._halt is None else self._halt[1]

    def open(self, fault: str, window: int, dose: float, ttl: float) -> float:
        """Put `fault` on for at most `ttl` seconds and return when it went on.

        The same window at the same dose is renewed. Conflict when the run is halted or another window is on.
        """
        if self.halted is not None:
            raise Conflict(f"the run is halted ({self.halted}); no fault goes on until this gateway ends")
        active = self.get(fault)
        if active is None:
            at = self._timeline.on(fault, window, dose)
            active = self._active[fault] = self._last[fault] = ActiveWindow(fault, window, dose, at, at)
        elif (active.window, active.dose) != (window, dose):
            raise Conflict(
                f"fault {fault!r} is on as window {active.window} at dose {active.dose:g}; DELETE it before the next"
            )
        self._live_for(active, ttl)
        return active.on

    def close(self, fault: str, why: OffReason = "removed") -> ActiveWindow | None:
        """Take `fault` off and return its last window, closed now or earlier; None when it was never on."""
        active = self._active.pop(fault, None)
        if active is not None:
            if active.timer is not None:
                active.timer.cancel()
            active.off = self._timeline.off(fault, active.window, active.dose, why)
        return self._last.get(fault)

    def get(self, fault: str) -> ActiveWindow | None:
        """The window in which `fault` is on, None when it is off."""
        active = self._active.get(fault)
        # A busy loop runs timers late; a window never outlives its time for that.
        if active is not None and active.expires <= self._clock.now():
            self.close(fault, "expired")
            return None
        return active

    def active(self) -> list[ActiveWindow]:
        """The windows that are on, in the order in which they were opened."""
        return [window for fault in list(self._active) if (window := self.get(fault)) is not None]

    def halt(self, reason: str) -> float:
        """Take every fault off, let delayed requests go and refuse new windows for good; returns when.

        A second halt changes nothing and returns the first one's time.
        """
        if self._halt is None:
            self._halt = (self._timeline.halt(reason), reason)
            for fault in list(self._active):
                self.close(fault, "halted")
            self._sleepers.release()
        return self._halt[0]

    def _live_for(self, active: ActiveWindow, ttl: float) -> None:
        if active.timer is not None:
            active.timer.cancel()
        active.expires = self._clock.now() + ttl
        active.timer = asyncio.get_running_loop().call_later(ttl, self._expire, active)

    def _expire(self, active: ActiveWindow) -> None:
        if self._active.get(active.fault) is active:
            self.close(active.fault, "expired")
