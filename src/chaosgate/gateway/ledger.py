"""The run's ledger: for every request and every fault of its phase, what was planned, applied and bypassed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from chaosgate.gateway.identity import RequestId
from chaosgate.gateway.windows import ActiveWindow
from chaosgate.model.observation import LedgerRow

MAX_ROWS = 2_000_000
"""Rows kept; about 300 bytes each. A run that fills it is halted, so that no request goes by unseen."""


@dataclass(eq=False)
class Touch:
    """What one fault does to one request. Until it is applied, `bypassed` says why not."""

    fault: str
    kind: str
    draw: float
    planned: bool
    window: ActiveWindow | None
    bypassed: str | None
    effect: str | None = None
    applied: bool = False

    def apply(self, effect: str) -> None:
        """The effect takes place; the window counts the request once."""
        if not self.applied and self.window is not None:
            self.window.applied += 1
        self.applied = True
        self.bypassed = None
        self.effect = effect if self.effect is None else f"{self.effect}; {effect}"

    def bypass(self, reason: str) -> None:
        """The effect does not take place; one that already did stays."""
        if not self.applied:
            self.bypassed = reason


@dataclass(eq=False)
class Visit:
    """One request on its way through the gateway."""

    seen: float
    phase: str
    id: RequestId | None
    """None while an anonymous request's body is not read."""
    touches: Sequence[Touch] = field(default=())


class Ledger:
    """Finished requests as lines of NDJSON by phase, and the number of unfinished ones."""

    def __init__(self, limit: int = MAX_ROWS) -> None:
        self._limit = limit
        self._lines: dict[str, list[bytes]] = defaultdict(list)
        self._rows = 0
        self._repeats: Counter[str] = Counter()
        self._unfinished: Counter[str] = Counter()

    @property
    def full(self) -> bool:
        """Whether no further request may be let in."""
        return self._rows >= self._limit

    def occurrence(self, name: str) -> int:
        """How often `name` was asked for before; counts this time."""
        self._repeats[name] += 1
        return self._repeats[name] - 1

    def enter(self, visit: Visit) -> None:
        """A request came in."""
        self._unfinished[visit.phase] += 1

    def finish(self, visit: Visit, identity: RequestId, repeat: int, done: float) -> None:
        """Write the request's rows: one a fault, or one without a fault where its phase has none."""
        self._unfinished[visit.phase] -= 1
        for touch in visit.touches or (None,):
            row = _row(visit, identity, repeat, done, touch)
            self._lines[visit.phase].append(row.model_dump_json().encode() + b"\n")
            self._rows += 1

    def unfinished(self, phase: str | None = None) -> int:
        """Requests that came in and are not finished, of one phase or of all."""
        return self._unfinished.total() if phase is None else self._unfinished[phase]

    def lines(self, phase: str | None = None) -> list[bytes]:
        """The rows of finished requests, one JSON object a line, in the order in which the requests finished."""
        if phase is not None:
            return list(self._lines.get(phase, ()))
        return [line for lines in self._lines.values() for line in lines]


def _row(visit: Visit, identity: RequestId, repeat: int, done: float, touch: Touch | None) -> LedgerRow:
    window = None if touch is None else touch.window
    return LedgerRow(
        request=identity.text,
        phase=visit.phase,
        fault=None if touch is None else touch.fault,
        window=None if window is None else window.window,
        dose=None if window is None else window.dose,
        draw=None if touch is None else touch.draw,
        planned=touch is not None and touch.planned,
        applied=touch is not None and touch.applied,
        bypassed=None if touch is None else touch.bypassed,
        effect=None if touch is None else touch.effect,
        seen=visit.seen,
        done=done,
        repeat=repeat,
    )
