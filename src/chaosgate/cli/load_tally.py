"""What a person wants to know of a load while it runs, read at one moment."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chaosgate.model.observation import Observation
from chaosgate.statistics.ranks import quantile_of

OF_LATE = 5.0
"""Seconds that the numbers of late are of: short enough to follow, long enough to be calm."""


@dataclass(frozen=True)
class Numbers:
    """Everything at one moment. Times are seconds, rates a second; latencies of the last OF_LATE seconds."""

    elapsed: float
    length: float | None
    """How long it will take; None where that is unknown."""
    share: float | None
    """How much of it is done."""
    requests: int
    outcomes: Mapping[str, int]
    asked: float | None
    """The rate that is planned now; None of a closed loop."""
    sent: float
    tokens: float
    in_flight: int
    ttft_p50: float | None
    ttft_p99: float | None
    delay_p99: float | None


class Tally:
    """Counts every request that ends; `of_late` keeps those of the last seconds."""

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        self.outcomes: Counter[str] = Counter()
        self._recent: deque[Observation] = deque()

    def add(self, observation: Observation) -> None:
        """A request has ended."""
        self.observations.append(observation)
        self.outcomes[observation.outcome] += 1
        self._recent.append(observation)

    def of_late(self, now: float) -> Sequence[Observation]:
        """The requests that ended within the last OF_LATE seconds."""
        while self._recent and self._recent[0].end < now - OF_LATE:
            self._recent.popleft()
        return tuple(self._recent)

    def forget(self) -> None:
        """Another phase begins, whose clock starts anew."""
        self._recent.clear()

    def read(self, now: float, in_flight: int, planned: Callable[[float], float | None], goal: Goal) -> Numbers:
        """The numbers `now`; `planned` gives the rate that is asked for."""
        recent = self.of_late(now)
        span = max(0.5, min(now, OF_LATE))
        firsts = [one.first - one.scheduled for one in recent if one.first is not None]
        delays = [one.sent - one.scheduled for one in recent]
        return Numbers(
            elapsed=now,
            length=goal.seconds,
            share=goal.share(now, len(self.observations)),
            requests=len(self.observations),
            outcomes=dict(self.outcomes),
            asked=planned(now),
            sent=sum(one.sent >= now - span for one in recent) / span + in_flight_rate(in_flight, 0),
            tokens=sum(len(one.tokens) for one in recent) / span,
            in_flight=in_flight,
            ttft_p50=quantile_of(firsts, 0.5) if firsts else None,
            ttft_p99=quantile_of(firsts, 0.99) if firsts else None,
            delay_p99=quantile_of(delays, 0.99) if delays else None,
        )
