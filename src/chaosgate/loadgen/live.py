"""The load while it runs, second by second: what is shown, and when a run must be halted."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

from chaosgate.loadgen.budgets import ErrorBudgetWatch, Spent, why_spent
from chaosgate.loadgen.trace import Pending
from chaosgate.model.observation import Observation, Sample
from chaosgate.model.sli import SliRef, resolve_sli
from chaosgate.model.stopping import Reading, StopCondition
from chaosgate.statistics.ranks import quantile_of
from chaosgate.units import format_value

_NO_GAUGES: Mapping[str, float] = MappingProxyType({})


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
        samples = _samples(self.observations)
        return _statistic(sli, samples, chain.from_iterable(map(sli.kind.values, samples)))


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
    """Watches the stop conditions of a run. A condition names the bad state, which must hold in enough samples.

    A sample without a number, such as an empty one or one of a gauge that is not read, neither breaks a row nor adds to
    it. Failed requests are infinitely slow. A request in flight that is slower than a latency's bound already counts
    then, once, as infinitely slow, so that a target that hangs is seen before its requests time out. Warm-up requests
    count in tokens alone.
    """

    def __init__(
        self, conditions: Sequence[StopCondition], planned: float | None = None, spent: Spent | None = None
    ) -> None:
        """`planned`: requests that the phase plans after its warm-up; `spent`: tokens that earlier phases have cost."""
        self.spent = spent or Spent()
        self._conditions = conditions
        self._rows = [_Row(condition) for condition in conditions if condition.readings]
        self._budgets = [ErrorBudgetWatch(one.error_budget, planned) for one in conditions if one.error_budget]

    def judge(
        self, sample: LiveSample, pending: Sequence[Pending] = (), gauges: Mapping[str, float] = _NO_GAUGES
    ) -> str | None:
        """Why the run must be halted now, None while it may go on. Samples are given once each, in order.

        `pending` are the requests in flight once the sample's second is over, `gauges` what is known of it by name.
        """
        self.spent = self.spent.more(sample.observations)
        now = sample.second + 1
        reasons = [row.judge(sample, pending, gauges) for row in self._rows]
        reasons += [budget.judge(sample.second, sample.observations) for budget in self._budgets]
        reasons += [why_spent(condition, self.spent, now) for condition in self._conditions]
        return next((reason for reason in reasons if reason is not None), None)


class _Row:
    """In which of the last samples one condition has held."""

    def __init__(self, condition: StopCondition) -> None:
        self._condition = condition
        self._readers = [_SliReader(one) if one.sli is not None else _GaugeReader(one) for one in condition.readings]
        self._held: deque[bool] = deque(maxlen=condition.last)

    def judge(self, sample: LiveSample, pending: Sequence[Pending], gauges: Mapping[str, float]) -> str | None:
        read = [reader.read(sample, pending, gauges) for reader in self._readers]
        values = [value for value in read if value is not None]
        if len(values) < len(read):
            return None
        bounds = [one.bound for one in self._condition.readings]
        self._held.append(all(bound.holds(value) for bound, value in zip(bounds, values, strict=True)))
        held = sum(self._held)
        if not self._held[-1] or held < self._condition.needed:
            return None
        shown = " and ".join(reader.shown(value) for reader, value in zip(self._readers, values, strict=True))
        return (
            f"stop condition {self._condition.what}: {self._often(held)} up to {sample.second + 1} s, last at {shown}"
        )

    def _often(self, held: int) -> str:
        if self._condition.share is None:
            return f"held in {held} one-second samples in a row"
        return f"held in {held} of the last {self._condition.last} one-second samples"


class _GaugeReader:
    """The value of a gauge in each second."""

    def __init__(self, reading: Reading) -> None:
        self._name, self._bound = str(reading.gauge), reading.bound

    def read(self, sample: LiveSample, pending: Sequence[Pending], gauges: Mapping[str, float]) -> float | None:
        return gauges.get(self._name)

    def shown(self, value: float) -> str:
        return format_value(value, self._bound.dimension)


class _SliReader:
    """The value of an SLI in each second."""

    def __init__(self, reading: Reading) -> None:
        self._bound = reading.bound
        self._sli = resolve_sli(str(reading.sli))
        self._overdue: set[str] = set()
        """Requests that were counted while they were in flight."""

    def read(self, sample: LiveSample, pending: Sequence[Pending], gauges: Mapping[str, float]) -> float | None:
        ended = [each for each in sample.observations if not each.warmup and each.request not in self._overdue]
        overdue = self._newly_overdue(pending, sample.second + 1)
        self._overdue = (self._overdue - {each.request for each in sample.observations}) | set(overdue)
        samples = _samples(ended)
        return _statistic(self._sli, samples, [math.inf] * len(overdue) + [*self._sli.kind.adjusted_values(samples)])

    def shown(self, value: float) -> str:
        return format_value(value, self._sli.dimension)

    def _newly_overdue(self, pending: Sequence[Pending], now: float) -> list[str]:
        """The requests in flight that break a latency's bound whenever they end, and were not counted before."""
        bound = self._bound
        if self._sli.kind.statistic != "quantile" or not self._sli.kind.ages or bound.upper:
            return []
        # No latency of a request is longer than its age; most need no closer look.
        old = (each for each in pending if not each.warmup and bound.holds(now - each.scheduled))
        return [each.request for each in old if each.request not in self._overdue and self._breaks(each, now)]

    def _breaks(self, pending: Pending, now: float) -> bool:
        value = self._sli.kind.value(Sample(_answered(pending, now), None))
        return value is not None and self._bound.holds(value)


def _answered(pending: Pending, now: float) -> Observation:
    """The request as if its answer ended now, and began now unless it has begun: no latency of it can be less."""
    first = now if pending.first is None else pending.first
    return Observation(
        request=pending.request,
        phase="",
        prompt="",
        scheduled=pending.scheduled,
        sent=pending.scheduled,
        first=first,
        tokens=(first,),
        end=max(first, now),
        status=None,
        outcome="ok",
        answer=None,
        text="",
    )


def _samples(observations: Iterable[Observation]) -> list[Sample]:
    return [Sample(observation, None) for observation in observations]


def _statistic(sli: SliRef, samples: Sequence[Sample], numbers: Iterable[float]) -> float | None:
    """The SLI over one second, of `samples` that have `numbers`; None where these are none.

    A rate is what the requests that ended come to.
    """
    if sli.kind.statistic == "set":
        return sli.kind.of(samples)
    values = list(numbers)
    if not values:
        return None
    if sli.kind.statistic == "rate":
        return sum(values)
    return sum(values) / len(values) if sli.quantile is None else quantile_of(values, sli.quantile)
