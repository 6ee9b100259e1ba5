"""What a run showed beside its objectives: before against during and after, what became of requests, and how soon.

None stands for "there is no number"; an open end of an interval is None.
"""

from __future__ import annotations

from typing import Literal

from chaosgate.model.base import Frozen, Line
from chaosgate.model.observation import Place
from chaosgate.units import Dimension

TestName = Literal["McNemar", "Wilcoxon", "Kolmogorov-Smirnov", "Mann-Whitney"]
Stage = Literal["before", "during", "after"]
RequestOutcome = Literal["masked", "fluent-wrong", "garbled", "altered", "unscored", "detected", "crashed", "hung"]
"""What became of a request: `masked` the right answer, or the clean one; `fluent-wrong` another that reads like an
answer, `garbled` one that does not, `altered` another whose text was not kept; `unscored` an answer with nothing to
hold it against; `detected` an error that the server told; `crashed` a connection refused or broken off; `hung` no end
within the timeout, or only after many times the clean median."""
REQUEST_OUTCOMES: tuple[RequestOutcome, ...] = (
    "masked",
    "unscored",
    "altered",
    "fluent-wrong",
    "garbled",
    "detected",
    "hung",
    "crashed",
)
"""The better first."""


class Interval(Frozen):
    """A value with its 95 % interval."""

    value: float | None
    lower: float | None
    upper: float | None


class Significance(Frozen):
    """A test of one difference, windows being clusters."""

    test: TestName
    statistic: float
    p: float
    """Two-sided: how often so much would be seen where nothing differs."""
    adjusted: float
    """The same, adjusted after Holm for all comparisons of the run by this test."""


class Comparison(Frozen):
    """One SLI at a place against the baseline."""

    sli: str
    fault: str
    at: str
    place: Place
    dose: float | None
    dimension: Dimension
    before: Interval
    then: Interval
    change: Interval
    """`then` less `before`, in the SLI's unit."""
    paired: bool
    """Whether it is taken prompt by prompt."""
    n: int
    effect: Interval | None = None
    """Cliff's delta, -1 to 1; None of an SLI without a number for each request, and of zeros and ones."""
    tests: tuple[Significance, ...] = ()
    reason: Line | None = None
    """Why a number is missing."""


class Distribution(Frozen):
    """The values of an SLI at a stage of the sweep of one fault, for the plot of its distribution function."""

    sli: str
    """The kind, without a percentile."""
    fault: str
    stage: Stage
    dimension: Dimension
    n: int
    quantiles: tuple[float | None, ...]
    """The smallest value, those that so many equal parts do not exceed, and the largest; None is infinite."""


class Comparisons(Frozen):
    """Before against during and after, for every SLI that the spec names."""

    comparisons: tuple[Comparison, ...] = ()
    distributions: tuple[Distribution, ...] = ()


class OutcomeCount(Frozen):
    """How many requests ended in one way, and their share with its interval."""

    outcome: RequestOutcome
    count: int
    share: Interval


class OutcomeRow(Frozen):
    """What became of the requests that a fault touched at one dose; at dose 0 of all requests of its controls."""

    fault: str
    dose: float
    n: int
    windows: int
    counts: tuple[OutcomeCount, ...]
    """Those that occur, the better first."""


class DetectionTime(Frozen):
    """How soon the requests themselves told that an SLI's bound is broken, from when a fault of one dose came on."""

    fault: str
    dose: float
    sli: str
    bound: str
    windows: int
    detected: int
    """Windows in which it was told before they ended."""
    seconds: float | None
    """The median of these; None where there are none."""


class RecoveryTime(Frozen):
    """How long an SLI's bound stayed broken after the last fault of a block had gone off."""

    fault: str
    sli: str
    bound: str
    seconds: float | None
    """0 where it never was broken again; None where it had not come back when the run ended, or no request tells."""
    observed: float
    """Seconds that were looked at."""
    requests: int


class Times(Frozen):
    """How soon what a fault does was seen, and was over."""

    detection: tuple[DetectionTime, ...] = ()
    recovery: tuple[RecoveryTime, ...] = ()
