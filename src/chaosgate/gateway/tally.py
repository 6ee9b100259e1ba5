"""What a gateway that belongs to no run keeps of what passes: counts for ever, rows and latencies of late."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from chaosgate.gateway.ledger import Ledger
from chaosgate.gateway.lines import RecentLines
from chaosgate.gateway.metrics import Metrics
from chaosgate.model.observation import LedgerRow
from chaosgate.statistics.ranks import quantile_of

RECENT_ROWS = 100_000
"""Rows that are kept; at about 300 bytes each some 30 MB. A file has them all."""
RECENT_LATENCIES = 10_000
"""Latencies that the quantiles are of: a P99 of them has a hundred above it."""
MAX_NAMES = 500_000
"""Different bodies that are counted apart, at some 150 bytes each; then counting begins anew, and ids come again."""
MAX_REASONS = 32
"""Reasons that are told apart a fault. A server's words may be part of one; what is more counts as `other`."""


@dataclass
class FaultTally:
    """What became of the requests that one fault looked at."""

    planned: int = 0
    applied: int = 0
    bypassed: Counter[str] = field(default_factory=Counter)
    """Planned requests that it did not touch, by why."""

    def add(self, row: LedgerRow) -> None:
        """Count one request."""
        self.planned += row.planned
        self.applied += row.applied
        if row.bypassed is not None:
            known = row.bypassed in self.bypassed or len(self.bypassed) < MAX_REASONS
            self.bypassed[row.bypassed if known else "other"] += 1


class Tally:
    """Everything that was counted since the gateway started."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        """Requests by status; 499 stands for a client that left before it had a response."""
        self.faults: dict[str, FaultTally] = defaultdict(FaultTally)
        self.latencies: deque[float] = deque(maxlen=RECENT_LATENCIES)
        """Seconds that the gateway itself took of late before a request went upstream."""

    def add(self, row: LedgerRow) -> None:
        """Count what a fault did to a request."""
        if row.fault is not None:
            self.faults[row.fault].add(row)

    def latency(self, quantile: float) -> float | None:
        """A quantile of the latencies, None where there are none yet."""
        return quantile_of(self.latencies, quantile) if self.latencies else None


class TalliedMetrics(Metrics):
    """Metrics that are counted in `tally`, too."""

    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self._tally = tally

    def answered(self, code: int) -> None:
        """As Metrics."""
        super().answered(code)
        self._tally.statuses[code] += 1

    def added(self, seconds: float) -> None:
        """As Metrics."""
        super().added(seconds)
        self._tally.latencies.append(seconds)


class RecentLedger(Ledger):
    """A ledger that is never full: it keeps the newest `limit` rows, and each of `listeners` is told every row."""

    def __init__(self, limit: int = RECENT_ROWS) -> None:
        super().__init__(limit)
        self._lines = defaultdict(partial(RecentLines, limit))
        self.listeners: list[Callable[[LedgerRow], None]] = []

    @property
    def full(self) -> bool:
        """Never."""
        return False

    def occurrence(self, name: str) -> int:
        """As Ledger, of late: counting begins anew after MAX_NAMES different names."""
        if len(self._repeats) >= MAX_NAMES:
            self._repeats.clear()
        return super().occurrence(name)

    def keep(self, row: LedgerRow) -> None:
        """Write one row and tell it."""
        super().keep(row)
        for listener in self.listeners:
            listener(row)

    def rows(self) -> list[LedgerRow]:
        """The rows that are kept, in the order in which their requests finished."""
        return [LedgerRow.model_validate_json(line) for line in self.lines()]
