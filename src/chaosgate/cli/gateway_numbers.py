"""What a person wants to know of a gateway that serves, read at one moment."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from chaosgate.gateway.standing import StandingGateway
from chaosgate.model.fault import Fault
from chaosgate.model.observation import LedgerRow
from chaosgate.units import format_value

RATE_SECONDS = 5.0
"""The stretch that requests per second are counted over: short enough to follow, long enough to be calm."""
NEWEST = 8
"""Requests of the ledger that are shown."""


@dataclass(frozen=True)
class FaultNumbers:
    """One fault: its dose as people read it, `off` while it is off, and what became of its requests."""

    name: str
    kind: str
    dose: str
    planned: int
    applied: int
    bypassed: Mapping[str, int]


@dataclass(frozen=True)
class Passed:
    """A request that is finished: when, and what each fault did to it, `effects` empty where none touched it."""

    request: str
    done: float
    effects: tuple[str, ...]


@dataclass(frozen=True)
class Numbers:
    """Everything at one moment. Times are seconds; `p50` and `p99` are those of the gateway's own time a request."""

    since_start: float
    requests: int
    rate: float
    under_way: int
    statuses: Mapping[int, int]
    faults: tuple[FaultNumbers, ...]
    p50: float | None
    p99: float | None
    newest: tuple[Passed, ...]
    halted: str | None


class Meter:
    """Reads the numbers of a gateway now and then; it hears every row from when it is made."""

    def __init__(self, gateway: StandingGateway) -> None:
        self._gateway = gateway
        self._begun = time.monotonic()
        self._seen: deque[tuple[float, int]] = deque([(self._begun, 0)])
        self._newest: deque[Passed] = deque(maxlen=NEWEST)
        gateway.run.rows.listeners.append(self._hear)

    def read(self) -> Numbers:
        """The numbers now."""
        run, now = self._gateway.run, time.monotonic()
        return Numbers(
            since_start=now - self._begun,
            requests=run.metrics.arrived,
            rate=self._rate(now, run.metrics.arrived),
            under_way=run.rows.unfinished(),
            statuses=dict(sorted(run.tally.statuses.items())),
            faults=tuple(self._fault(fault) for fault in run.config.faults),
            p50=run.tally.latency(0.50),
            p99=run.tally.latency(0.99),
            newest=tuple(self._newest),
            halted=run.windows.halted,
        )

    def _hear(self, row: LedgerRow) -> None:
        """Note the request, whose rows come one after the other."""
        effects: tuple[str, ...] = (f"{row.fault}: {row.effect}",) if row.applied else ()
        before = self._newest[-1] if self._newest else None
        if before is not None and (before.request, before.done) == (row.request, row.done):
            effects = self._newest.pop().effects + effects
        self._newest.append(Passed(row.request, row.done, effects))

    def _rate(self, now: float, requests: int) -> float:
        """Requests a second since the newest reading that is RATE_SECONDS old, else since the start."""
        while len(self._seen) > 1 and self._seen[1][0] <= now - RATE_SECONDS:
            self._seen.popleft()
        before, had = self._seen[0]
        self._seen.append((now, requests))
        return (requests - had) / (now - before) if now > before else 0.0

    def _fault(self, fault: Fault) -> FaultNumbers:
        window, told = self._gateway.window(fault.name), self._gateway.run.tally.faults[fault.name]
        dose = "off" if window is None else format_value(window.dose, fault.axis().dimension)
        return FaultNumbers(fault.name, fault.kind, dose, told.planned, told.applied, dict(told.bypassed.most_common()))
