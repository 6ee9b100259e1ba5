"""The run's ledger: for every request and every fault of its phase, what was planned, applied and bypassed."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from chaosgate.gateway.identity import RequestId
from chaosgate.gateway.lines import Lines, PackedLines
from chaosgate.gateway.windows import ActiveWindow
from chaosgate.model.filter import UNGUARDED, Finding
from chaosgate.model.observation import LedgerRow

MAX_ROWS = 2_000_000
"""Rows kept; with the names of their requests about 130 bytes each. A run that fills it is halted, so that no request
goes by unseen."""

MAX_TEXT = 1000
"""Characters of each text of a row."""

NOT_REACHED = "not reached"
"""Why a planned request was not touched, as long as its way is not over."""


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
    prelude: str = ""
    """What comes before the effect in the ledger: the request's dose, where it is not its window's."""

    def apply(self, effect: str) -> None:
        """The effect takes place; the window counts the request once."""
        if not self.applied and self.window is not None:
            self.window.applied += 1
        self.applied = True
        self.bypassed = None
        self.effect = self.prelude + effect if self.effect is None else f"{self.effect}; {effect}"

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
    found: list[Finding] = field(default_factory=list)
    """What the filters did to it."""
    guarded: bool = True
    """Whether it has to pass the filters."""

    @property
    def filtered(self) -> str | None:
        """What the ledger says of the filters; None where they left it as it was."""
        return ("; ".join(map(str, self.found)) or None) if self.guarded else UNGUARDED


class Ledger:
    """Finished requests as lines of NDJSON by phase, and the number of unfinished ones."""

    def __init__(self, limit: int = MAX_ROWS) -> None:
        self._limit = limit
        self._lines: MutableMapping[str, Lines] = defaultdict(PackedLines)
        self._rows = 0
        self._repeats: Counter[int] = Counter()
        self._unfinished: Counter[str] = Counter()

    @property
    def full(self) -> bool:
        """Whether no further request may be let in."""
        return self._rows >= self._limit

    def occurrence(self, name: str) -> int:
        """How often `name` was asked for before; counts this time."""
        key = _short(name)
        self._repeats[key] += 1
        return self._repeats[key] - 1

    def enter(self, visit: Visit) -> None:
        """A request came in."""
        self._unfinished[visit.phase] += 1

    def finish(self, visit: Visit, identity: RequestId, repeat: int, done: float) -> None:
        """Write the request's rows: one a fault, or one without a fault where its phase has none."""
        self._unfinished[visit.phase] -= 1
        for touch in visit.touches or (None,):
            self.keep(_row(visit, identity, repeat, done, touch))

    def keep(self, row: LedgerRow) -> None:
        """Write one row."""
        self._lines[row.phase].add(row.model_dump_json().encode() + b"\n")
        self._rows += 1

    def unfinished(self, phase: str | None = None) -> int:
        """Requests that came in and are not finished, of one phase or of all."""
        return self._unfinished.total() if phase is None else self._unfinished[phase]

    def blocks(self, phase: str | None = None) -> Iterator[bytes]:
        """The rows of requests finished by now, one JSON object a line, many lines at a time.

        They stand in the order in which the requests finished, phase by phase.
        """
        phases = list(self._lines) if phase is None else [phase] * (phase in self._lines)
        # Each phase's rows are those of this moment, however slowly they are read.
        return chain.from_iterable([self._lines[name].blocks() for name in phases])

    def lines(self, phase: str | None = None) -> list[bytes]:
        """The same rows, one by one."""
        return [line for block in self.blocks(phase) for line in block.splitlines(keepends=True)]


def _short(name: str) -> int:
    """A number for `name` that takes little memory: 60 bits of its BLAKE2b, the most that a 32-byte int holds.

    Two of 2 million names get the same one with a probability of 2e-6 (birthday bound n^2 / 2^61).
    """
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest()) >> 4


def plain(text: str) -> str:
    """`text` as a file takes it, cut to MAX_TEXT characters: a server's words may be part of it, and be anything.

    Halves of surrogate pairs, which JSON carries and UTF-8 does not, become `?`.
    """
    shown = text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 3]}..."
    return shown.encode(errors="replace").decode()


def _row(visit: Visit, identity: RequestId, repeat: int, done: float, touch: Touch | None) -> LedgerRow:
    window = None if touch is None else touch.window
    # Every request comes through here, and the gateway itself has made all of it: nothing is left to be checked.
    return LedgerRow.of_checked(
        {
            "request": identity.text,
            "phase": visit.phase,
            "fault": None if touch is None else touch.fault,
            "window": None if window is None else window.window,
            "dose": None if window is None else window.dose,
            "draw": None if touch is None else touch.draw,
            "planned": touch is not None and touch.planned,
            "applied": touch is not None and touch.applied,
            "bypassed": None if touch is None or touch.bypassed is None else plain(touch.bypassed),
            "effect": None if touch is None or touch.effect is None else plain(touch.effect),
            "seen": visit.seen,
            "done": done,
            "repeat": repeat,
            "filtered": None if visit.filtered is None else plain(visit.filtered),
        }
    )
