"""A run beside the runs before it: each judged number against the band of its history, or against a relative bound.

Keptn's quality gates compare with the mean of the last results that passed, value by value. Here the history is that of
accepted runs that were sealed clean, and its spread and the run's own interval count: a number that may as well be that
of an ordinary run is no reason to stop.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from chaosgate.model.base import Frozen, Line
from chaosgate.model.history import MIN_RUNS, GateHistory, HistoryBound
from chaosgate.model.relative import RelativeBound
from chaosgate.model.result import EXIT_UNCLEAN, RANK, Verdict, VerdictName, finite
from chaosgate.model.spec import ChaosSpec, Objective
from chaosgate.report.numbers import Number, Place, numbers_of
from chaosgate.report.schema import schema_text
from chaosgate.report.view import ReportView
from chaosgate.statistics.band import PastValues
from chaosgate.statistics.difference import Difference, difference
from chaosgate.units import Dimension

SCHEMA = "chaosgate/run-history/v1"
WARN_TAIL, FAIL_TAIL = 0.025, 0.005
"""What lies beyond the worse end of the band that warns and of the one that fails: 95 % and 99 % bands, two-sided. Two
limits, one to look and one to act, are the custom of control charts (Shewhart, 1931)."""
LIMITS: tuple[tuple[float, VerdictName], ...] = ((FAIL_TAIL, "fail"), (WARN_TAIL, "warn"))
"""The farther one first."""


class PastRun(Frozen):
    """One run of the history."""

    run: str
    started: str
    """ISO 8601, UTC."""
    verdict: VerdictName


class AgainstHistory(Frozen):
    """One judged number and its history. `n` runs of it have the number; None where there is no number."""

    objective: str
    at: str
    dimension: Dimension
    severity: Literal["gate", "warn"]
    better: Literal["lower", "higher"]
    value: float | None
    lower: float | None
    upper: float | None
    n: int
    mean: float | None
    """Of the history."""
    band: tuple[float, float] | None
    """Where 95 % of further runs would lie; None where a relative bound is judged, or the history is too short."""
    change: float | None
    """The value over the mean, less 1; None where the mean is 0."""
    change_lower: float | None
    change_upper: float | None
    bound: str | None
    """The relative bounds that are judged, None for the band."""
    verdict: VerdictName | None
    """None where the history is too short to say anything."""
    text: Line
    """The verdict in words."""


class RunHistory(Frozen):
    """What the gate says of a run: its own verdict, and how it stands beside its history."""

    schema_: Literal["chaosgate/run-history/v1"] = Field(alias="schema")
    run: str
    spec: str
    spec_digest: str
    own: VerdictName
    sealed_clean: bool
    history: tuple[PastRun, ...]
    """The runs it is compared with, the earliest first."""
    rows: tuple[AgainstHistory, ...]
    verdict: VerdictName
    """The worst of the run's own and of the rows."""

    @property
    def exit_code(self) -> int:
        """4 unless the run is sealed clean, else that of the verdict."""
        return Verdict(verdict=self.verdict, reasons=()).exit_code if self.sealed_clean else EXIT_UNCLEAN


def history_schema() -> str:
    """The JSON Schema of what `chaosgate gate -o json` prints, as the text of its file."""
    return schema_text(RunHistory, "run-history", "A chaosgate run beside its history, v1")


def history_json(history: RunHistory) -> str:
    """The comparison as text, equal for equal input; it holds neither NaN nor infinity."""
    return json.dumps(history.to_json(), indent=2, allow_nan=False) + "\n"


def accepted(view: ReportView, past: Sequence[ReportView], rules: GateHistory) -> list[ReportView]:
    """The latest of `past` that the run is compared with, the earliest first.

    They began before it, ran the same spec, are sealed clean and have a verdict that is accepted.
    """
    allowed = RANK[: RANK.index(rules.accept) + 1]
    digest, began = view.spec.digest(), view.record.started
    found = [
        each
        for each in past
        if each.run != view.run
        and each.record.started <= began
        and each.sealed_clean
        and each.verdict.verdict in allowed
        and each.spec.digest() == digest
    ]
    return sorted(found, key=_began)[-rules.last :]


def _began(view: ReportView) -> tuple[str, str]:
    return view.record.started, view.run


def beside_history(view: ReportView, past: Sequence[ReportView], rules: GateHistory) -> RunHistory:
    """The run against those of `past` that `accepted` takes."""
    history = accepted(view, past, rules)
    rows = tuple(_rows(view, history, {bound.objective: bound for bound in rules.bounds}))
    verdicts = [view.verdict.verdict, *(row.verdict for row in rows if row.verdict is not None)]
    return RunHistory(
        schema_=SCHEMA,
        run=view.run,
        spec=view.spec.metadata.name,
        spec_digest=view.spec.digest(),
        own=view.verdict.verdict,
        sealed_clean=view.sealed_clean,
        history=tuple(
            PastRun(run=each.run, started=each.record.started, verdict=each.verdict.verdict) for each in history
        ),
        rows=rows,
        verdict=max(verdicts, key=RANK.index),
    )


def _rows(
    view: ReportView, history: Sequence[ReportView], bounds: Mapping[str, HistoryBound]
) -> Iterator[AgainstHistory]:
    numbers = [numbers_of(each) for each in history]
    for place, number in numbers_of(view).items():
        values = [found.value for each in numbers if (found := each.get(place)) and found.value is not None]
        for objective in _judging(view.spec, place):
            judged = _Judged(objective, place, number, values, bounds.get(objective.name))
            yield judged.row(view.spec.spec.gate.on_uncertain)


def _judging(spec: ChaosSpec, place: Place) -> list[Objective]:
    """The objectives that rest on a number: several may rest on one fit."""
    if place.kind == "sli":
        return []
    return [
        each for each in spec.spec.objectives if place.name == (each.fit if place.kind == "threshold" else each.name)
    ]


@dataclass(frozen=True)
class _Judged:
    """One number, the values that its history has, and the rule that it is held against."""

    objective: Objective
    place: Place
    number: Number
    values: Sequence[float]
    bound: HistoryBound | None

    @property
    def past(self) -> PastValues:
        """The history as numbers."""
        return PastValues(np.array(self.values, dtype=float))

    @property
    def n(self) -> int:
        """How many runs of the history have the number."""
        return len(self.values)

    @property
    def sign(self) -> int:
        """What makes a larger number a worse one."""
        return 1 if self.objective.wanted.upper else -1

    def row(self, on_uncertain: VerdictName) -> AgainstHistory:
        """What is found, with the verdict; an objective of severity warn gives at most warn."""
        verdict, text = self._judge(on_uncertain)
        if self.objective.severity == "warn" and verdict not in (None, "pass"):
            verdict = "warn"
        change = self._change()
        band = self.past.band(WARN_TAIL) if self.n >= MIN_RUNS and self.bound is None else None
        return AgainstHistory(
            objective=self.objective.name,
            at=self.place.at,
            dimension=self.place.dimension,
            severity=self.objective.severity,
            better="lower" if self.sign > 0 else "higher",
            value=finite(self.number.value),
            lower=finite(self.number.lower),
            upper=finite(self.number.upper),
            n=self.n,
            mean=self.past.mean if self.n else None,
            band=band,
            change=finite(change.value),
            change_lower=finite(change.lower),
            change_upper=finite(change.upper),
            bound=None if self.bound is None else _bounds_text(self.bound),
            verdict=verdict,
            text=text,
        )

    def _judge(self, on_uncertain: VerdictName) -> tuple[VerdictName | None, str]:
        if self.n < MIN_RUNS:
            return None, f"{self.n} of {MIN_RUNS} runs needed have this number; nothing is judged by its history"
        if self.number.value is None and not self.number.unbounded:
            return "inconclusive", f"the run has no value to compare ({self.number.reason or 'none was found'})"
        if self.bound is not None:
            return self._by_bound(self.bound, on_uncertain)
        return self._by_band()

    def _by_band(self) -> tuple[VerdictName, str]:
        """Worse than the band, unless the run's own interval reaches back to the mean of the history."""
        near = self._near()
        if near is None or near <= self.sign * self.past.mean:
            return "pass", "its interval reaches to the mean of the history, or lies on the better side"
        # A number beyond every number lies outside every band.
        value = np.inf if self.number.value is None else self.sign * self.number.value
        for tail, verdict in LIMITS:
            if value > max(self.sign * end for end in self.past.band(tail)):
                return verdict, f"worse than {100 * (1 - tail):g} % of further runs would be"
        return "pass", "within the band of the history"

    def _near(self) -> float | None:
        """The end of the run's interval on the better side, as a number that is worse the larger it is."""
        if self.number.unbounded:
            return np.inf
        end = self.number.lower if self.sign > 0 else self.number.upper
        return None if end is None else self.sign * end

    def _by_bound(self, bound: HistoryBound, on_uncertain: VerdictName) -> tuple[VerdictName, str]:
        change = self._change()
        if change.value is None:
            return "inconclusive", "the mean of the history is 0, of which there is no relative change"
        last = bound.warns or bound.passes
        if _inside(bound.passes, change):
            return "pass", f"the whole interval of the change keeps {bound.passes}"
        if bound.warns is not None and _inside(bound.warns, change):
            return "warn", f"the change keeps {bound.warns} and may break {bound.passes}"
        if _outside(last, change):
            return "fail", f"the whole interval of the change breaks {last}"
        return on_uncertain, f"the interval of the change straddles {last}"

    def _change(self) -> Difference:
        """The relative change, with the interval of the difference of run and mean over the mean.

        The mean's error counts in the difference alone: in the divisor it would be of second order.
        """
        if self.n < 2 or not self.past.mean or self.number.unbounded:
            return Difference(None, None, None)
        found, scale = difference(self.past.arm(), self.number.arm()), abs(self.past.mean)
        return Difference(*(None if end is None else end / scale for end in (found.value, found.lower, found.upper)))


def _inside(bound: RelativeBound, change: Difference) -> bool:
    far = change.upper if bound.upper else change.lower
    return far is not None and bound.holds(far)


def _outside(bound: RelativeBound, change: Difference) -> bool:
    near = change.lower if bound.upper else change.upper
    return near is not None and not bound.holds(near)


def _bounds_text(bound: HistoryBound) -> str:
    return str(bound.passes) if bound.warns is None else f"{bound.passes}, warns to {bound.warns}"
