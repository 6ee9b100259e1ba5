"""What the coverage harness is made of: a study, its trials, their tally, and how trials are drawn repeatably."""

from __future__ import annotations

import math
import statistics
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

Random = np.random.Generator


@dataclass(frozen=True)
class Trial:
    """What one simulated experiment gave. An end that is None is open; a trial without a number was refused."""

    truth: float
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    refused: str | None = None

    @property
    def covers(self) -> bool:
        """Whether the truth lies in the interval, its ends included."""
        low = -math.inf if self.lower is None else self.lower
        return low <= self.truth <= (math.inf if self.upper is None else self.upper)

    @property
    def width(self) -> float | None:
        """The interval's length, None where an end is open."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower

    def spoiled(self, is_event: bool) -> Trial:
        """What a self-test must see: an interval half as wide as it must be, or the contrary of what happened."""
        if is_event:
            return event(not self.covers)
        middle = self.value if self.value is not None else self.truth
        ends = (None if end is None else (end + middle) / 2 for end in (self.lower, self.upper))
        return Trial(self.truth, self.value, *ends, refused=self.refused)


def event(happened: bool) -> Trial:
    """A trial of an event: it covers where it happened."""
    return Trial(1.0, lower=float(happened), upper=float(happened))


@dataclass(frozen=True)
class Study:
    """One kind of number under one design. `simulate` draws an experiment and gives its trial."""

    figure: str
    """The headline figure that it counts for, such as coverage_logistic."""
    name: str
    """The design in a few words, unique within the figure."""
    simulate: Callable[[Random], Trial] = field(repr=False)
    unit: str = ""
    """Of the width."""
    scale: float = 1.0
    """What the width is multiplied by to be in `unit`."""
    event: bool = False
    """Whether a trial is something that happens or not, and its share is counted, not an interval and its coverage."""
    right: bool = True
    """Whether what is fitted has the family of what is drawn; where not, no bound is asked for."""

    @property
    def id(self) -> str:
        """What a worker finds it by."""
        return f"{self.figure}/{self.name}"


@dataclass(frozen=True)
class Tally:
    """The trials of a study, counted."""

    trials: int
    answered: int
    covered: int
    below: int
    """Intervals that lie wholly below the truth."""
    above: int
    open: int
    """Intervals with an open end; they cover on that side."""
    width: float | None
    """The median of the closed ones."""
    bias: float | None
    """The median of value less truth."""
    refusals: tuple[tuple[str, int], ...] = ()
    """The reasons why there was no number, the most frequent first."""

    @property
    def coverage(self) -> float:
        """The share of intervals that cover the truth; 0 where there is none."""
        return self.covered / self.answered if self.answered else 0.0

    @property
    def refused(self) -> float:
        """The share of trials without an interval."""
        return 1 - self.answered / self.trials

    def width_text(self, study: Study) -> str:
        """The median width with its unit; `-` where every interval is open."""
        return "-" if self.width is None else f"{self.width * study.scale:.3g} {study.unit}".strip()


def tally(trials: Sequence[Trial]) -> Tally:
    """What the trials come to."""
    answered = [trial for trial in trials if trial.refused is None]
    missed = [trial for trial in answered if not trial.covers]
    widths = [trial.width for trial in answered if trial.width is not None]
    biases = [trial.value - trial.truth for trial in answered if trial.value is not None]
    return Tally(
        trials=len(trials),
        answered=len(answered),
        covered=len(answered) - len(missed),
        below=sum(trial.upper is not None and trial.upper < trial.truth for trial in missed),
        above=sum(trial.lower is not None and trial.lower > trial.truth for trial in missed),
        open=len(answered) - len(widths),
        width=statistics.median(widths) if widths else None,
        bias=statistics.median(biases) if biases else None,
        refusals=_refusals(trials),
    )


def _refusals(trials: Sequence[Trial]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for trial in trials:
        if trial.refused is not None:
            # What follows the first colon or semicolon are the numbers of the one experiment.
            short = trial.refused.split(":")[0].split(";")[0]
            counts[short] = counts.get(short, 0) + 1
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def together(tallies: Sequence[Tally]) -> float:
    """The coverage over the intervals of several studies."""
    answered = sum(each.answered for each in tallies)
    return sum(each.covered for each in tallies) / answered if answered else 0.0


@dataclass(frozen=True)
class TrialPlan:
    """How many trials a study has, and the seed of all of them."""

    trials: int = 1000
    seed: int = 20


def drawn(study: Study, seed: int, index: int) -> Trial:
    """The trial `index` of a study: it depends on nothing but seed, study and index, so that workers may share."""
    return study.simulate(np.random.default_rng([seed, zlib.crc32(study.id.encode()), index]))
