"""The load while it runs, second by second: what is shown, and when a run must be halted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chaosgate.model.observation import Observation, Sample
from chaosgate.model.sli import SliRef, resolve_sli
from chaosgate.model.spec import StopCondition
from chaosgate.statistics.ranks import quantile_of
from chaosgate.units import format_value


@dataclass(frozen=True)
class LiveSample:
    """The requests that ended within one second, and what is shown of them; None where no request gives a number."""

    second: int
    """The sample covers [second, second + 1) on the phase's clock."""
    observations: tuple[Observation, ...]

    @property
    def n(self) -> int:
        """How many requests ended."""
        return len(self.observations)

    @property
    def error_rate(self) -> float | None:
        """The share of failed requests."""
        return self._shown("error-rate")

    @property
    def ttft_p50(self) -> float | None:
        """The median time to the first token of the requests that have one, in seconds."""
        return self._shown("ttft-p50")

    @property
    def ttft_p99(self) -> float | None:
        """The 99th percentile of the time to the first token of the requests that have one, in seconds."""
        return self._shown("ttft-p99")

    def _shown(self, name: str) -> float | None:
        sli = resolve_sli(name)
        return _statistic(sli, sli.kind.value, self.observations)


class LiveStats:
    """Cuts the stream of observations into one-second samples by the time at which requests ended."""

    def __init__(self) -> None:
        self._open = 0
        self._seconds: defaultdict[int, list[Observation]] = defaultdict(list)

    def add(self, observation: Observation) -> None:
        """Count a request that ended. One that comes after its second was closed counts in the first open one."""
        self._seconds[max(int(observation.end), self._open)].append(observation)

    def close(self, now: float) -> list[LiveSample]:
        """The samples of all whole seconds that have passed by `now` since the last call, empty ones too, in order."""
        passed = range(self._open, int(now))
        self._open = max(self._open, int(now))
        return [LiveSample(second, tuple(self._seconds.pop(second, ()))) for second in passed]


class StopWatch:
    """Watches the stop conditions of a run. A condition names the bad state; it must hold in a row of samples.

    A sample without a number, such as an empty one, breaks the row. Failed requests are infinitely slow. Warm-up
    requests do not count.
    """

    def __init__(self, conditions: Sequence[StopCondition]) -> None:
        self._rows = [_Row(condition) for condition in conditions]

    def judge(self, sample: LiveSample) -> str | None:
        """Why the run must be halted now, None while it may go on. Samples are given once each, in order."""
        reasons = [row.judge(sample) for row in self._rows]
        return next((reason for reason in reasons if reason is not None), None)


class _Row:
    """How many samples in a row one condition has held."""

    def __init__(self, condition: StopCondition) -> None:
        self._condition = condition
        self._sli = resolve_sli(condition.sli)
        self._held = 0

    def judge(self, sample: LiveSample) -> str | None:
        measured = [observation for observation in sample.observations if not observation.warmup]
        value = _statistic(self._sli, self._sli.kind.adjusted, measured)
        self._held = self._held + 1 if value is not None and self._condition.bound.holds(value) else 0
        if self._held < self._condition.consecutive:
            return None
        return (
            f"stop condition {self._sli.name} {self._condition.bound}: held in {self._held} one-second samples in a "
            f"row up to {sample.second + 1} s, last at {format_value(value, self._sli.dimension)}"
        )


def _statistic(
    sli: SliRef, number: Callable[[Sample], float | None], observations: Iterable[Observation]
) -> float | None:
    numbers = [number(Sample(observation, None)) for observation in observations]
    values = [value for value in numbers if value is not None]
    if not values:
        return None
    return sum(values) / len(values) if sli.quantile is None else quantile_of(values, sli.quantile)
