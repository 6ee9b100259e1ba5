"""What a person wants to know of a load while it runs, read at one moment."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chaosgate.loadgen.trace import Pending
from chaosgate.model.observation import Observation
from chaosgate.statistics.ranks import quantile_of

OF_LATE = 5.0
"""Seconds that the numbers of late are of: short enough to follow, long enough to be calm."""


@dataclass(frozen=True)
class Numbers:
    """Everything at one moment. Times are seconds, rates a second; those of late are of the last OF_LATE seconds."""

    elapsed: float
    share: float
    """How much of the load is done."""
    requests: int
    outcomes: Mapping[str, int]
    asked: float | None
    """The rate that is planned now; None of a closed loop."""
    sent: float
    """Of late."""
    tokens: float
    """Of late."""
    in_flight: int | None
    """None where it is unknown."""
    ttft_p50: float | None
    """Of late."""
    ttft_p99: float | None
    """Of late."""
    delay_p99: float | None
    """Of late: how far the client lags behind its schedule."""


@dataclass(frozen=True)
class Goal:
    """When a load is over: after so many seconds or requests."""

    seconds: float
    requests: int | None

    def share(self, elapsed: float, requests: int) -> float:
        """How much of it is done."""
        done = elapsed / self.seconds if self.requests is None else requests / self.requests
        return min(1.0, done)


class Tally:
    """Keeps every request that ended, and counts."""

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        self.outcomes: Counter[str] = Counter()
        self._recent: deque[Observation] = deque()

    def add(self, observation: Observation) -> None:
        """A request has ended."""
        self.observations.append(observation)
        self.outcomes[observation.outcome] += 1
        self._recent.append(observation)

    def forget(self) -> None:
        """Another step begins, whose clock starts anew: nothing is of late."""
        self._recent.clear()

    def read(self, now: float, pending: Sequence[Pending] | None, asked: float | None, goal: Goal) -> Numbers:
        """The numbers `now`, when `asked` is the rate that is asked for; `pending` is None where it is unknown."""
        recent = self._of_late(now)
        span = max(0.5, min(now, OF_LATE))
        firsts = [one.first - one.scheduled for one in recent if one.first is not None]
        delays = [one.sent - one.scheduled for one in recent]
        due = [one.sent for one in recent] + [one.scheduled for one in pending or ()]
        return Numbers(
            elapsed=now,
            share=goal.share(now, len(self.observations)),
            requests=len(self.observations),
            outcomes=dict(self.outcomes),
            asked=asked,
            sent=sum(at >= now - span for at in due) / span,
            tokens=sum(at >= now - span for one in recent for at in one.tokens) / span,
            in_flight=None if pending is None else len(pending),
            ttft_p50=quantile_of(firsts, 0.5) if firsts else None,
            ttft_p99=quantile_of(firsts, 0.99) if firsts else None,
            delay_p99=quantile_of(delays, 0.99) if delays else None,
        )

    def _of_late(self, now: float) -> Sequence[Observation]:
        """The requests that ended within the last seconds."""
        while self._recent and self._recent[0].end < now - OF_LATE:
            self._recent.popleft()
        return tuple(self._recent)
