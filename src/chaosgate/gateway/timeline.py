"""The run's timeline: what happened, in the order of the gateway's clock."""

from __future__ import annotations

from typing import Any, Literal

from chaosgate.gateway.clock import Clock
from chaosgate.gateway.config import GatewayConfig
from chaosgate.model.observation import TimelineEvent

MAX_EVENTS = 100_000
"""Events kept; a day of ten-second windows writes a fifth of that."""

OffReason = Literal["removed", "expired", "halted"]


class Timeline:
    """Events of the run, each stamped when it is added."""

    def __init__(self, config: GatewayConfig, clock: Clock, limit: int = MAX_EVENTS) -> None:
        self._config = config
        self._clock = clock
        self._limit = limit
        self._events: list[TimelineEvent] = []

    @property
    def full(self) -> bool:
        """Whether nothing new may begin. What ends a window is recorded even then."""
        return len(self._events) >= self._limit

    def add(self, **fields: Any) -> TimelineEvent:
        """Stamp and keep an event; `fields` are those of TimelineEvent."""
        added = TimelineEvent(at=self._clock.now(), **fields)
        self._events.append(added)
        return added

    def on(self, fault: str, window: int, dose: float) -> float:
        """Record that a window opened, in the phase the fault belongs to; returns when."""
        return self.add(event="on", phase=self._phase_of(fault), fault=fault, window=window, dose=dose).at

    def off(self, fault: str, window: int, dose: float, why: OffReason) -> float:
        """Record that a window closed and why; returns when."""
        phase = self._phase_of(fault)
        return self.add(event="off", phase=phase, fault=fault, window=window, dose=dose, detail={"why": why}).at

    def halt(self, reason: str) -> float:
        """Record a halt in the phase that runs; returns when."""
        return self.add(event="halt", phase=self._running(set(self._config.phases)), detail={"reason": reason}).at

    def events(self, phase: str | None = None) -> list[TimelineEvent]:
        """All events, or those of one phase."""
        return [event for event in self._events if phase is None or event.phase == phase]

    def _phase_of(self, fault: str) -> str | None:
        """The phase that declares `fault`; of several the one that runs, else the first declared."""
        declaring = [phase for phase, faults in self._config.phases.items() if fault in faults]
        return self._running(set(declaring)) or next(iter(declaring), None)

    def _running(self, phases: set[str]) -> str | None:
        """Of `phases` the one that started last and is not done."""
        for event in reversed(self._events):
            if event.event == "done" and event.phase in phases:
                phases = phases - {event.phase}
            if event.event == "started" and event.phase in phases:
                return event.phase
        return None
