"""Two runs side by side: each number of either, the difference with a 95 % interval, and which way it points.

Only what was estimated is compared, never requests: the interval of an estimate carries the variance between windows.
"""

from __future__ import annotations

import json
import math
from typing import Literal

from pydantic import Field

from chaosgate.model.base import Frozen
from chaosgate.model.result import RANK, Subject, VerdictName, finite
from chaosgate.report.changes import Change, environment_changes, spec_changes, subject_changes
from chaosgate.report.numbers import Kind, Number, Place, lower_is_better, numbers_of
from chaosgate.report.schema import schema_text
from chaosgate.report.view import ReportView
from chaosgate.statistics.difference import Arm, Direction, difference
from chaosgate.units import Dimension

SCHEMA = "chaosgate/run-comparison/v1"
Answer = Literal["worse", "not enough data", "no difference shown", "better"]
ANSWERS: tuple[Answer, ...] = ("worse", "not enough data", "no difference shown", "better")
"""The worst first."""
KINDS: tuple[Kind, ...] = ("objective", "threshold", "sli")
NO_NUMBER = Arm(None, None, None)


class ComparedRun(Frozen):
    """One of the two runs."""

    run: str
    spec: str
    spec_digest: str
    verdict: VerdictName
    exit_code: int
    sealed_clean: bool
    subject: Subject | None


class Interval(Frozen):
    """B less A, with its 95 % interval; None where there is no number or the interval is open."""

    value: float | None
    lower: float | None
    upper: float | None


class Compared(Frozen):
    """One number in both runs. `a` or `b` is None where a run does not have it at all."""

    kind: Kind
    name: str
    """The objective, the fit or the SLI."""
    sli: str | None
    at: str
    fault: str | None
    dimension: Dimension
    better: Literal["lower", "higher"]
    """Which way is better, by the bound on it."""
    a: Number | None
    b: Number | None
    difference: Interval
    answer: Answer
    """Whether B is worse or better than A: only where the interval of the difference leaves out 0."""

    @property
    def in_both(self) -> bool:
        """Whether both runs have it."""
        return self.a is not None and self.b is not None


class Comparison(Frozen):
    """Two runs. `rows` has the worst first: what B is judged worse on than A, then by the answer; within an answer
    objectives, thresholds, then SLIs, each by its size. What only one run has comes last."""

    schema_: Literal["chaosgate/run-comparison/v1"] = Field(alias="schema")
    a: ComparedRun
    b: ComparedRun
    spec: tuple[Change, ...]
    """Where the specs differ; empty for two runs of one spec."""
    subject: tuple[Change, ...]
    environment: tuple[Change, ...]
    rows: tuple[Compared, ...]


def comparison_schema() -> str:
    """The JSON Schema of a comparison, as the text of its file."""
    return schema_text(Comparison, "run-comparison", "Comparison of two chaosgate runs, v1")


def comparison_json(comparison: Comparison) -> str:
    """The comparison as text, equal for equal input; it holds neither NaN nor infinity."""
    return json.dumps(comparison.to_json(), indent=2, allow_nan=False) + "\n"


def compare(first: ReportView, second: ReportView) -> Comparison:
    """`second`, called B, against `first`, called A."""
    return Comparison(
        schema_=SCHEMA,
        a=_run(first),
        b=_run(second),
        spec=spec_changes(first.spec, second.spec),
        subject=subject_changes(first, second),
        environment=environment_changes(first, second),
        rows=tuple(sorted(_rows(first, second), key=_order)),
    )


def _run(view: ReportView) -> ComparedRun:
    return ComparedRun(
        run=view.run,
        spec=view.spec.metadata.name,
        spec_digest=view.spec.digest(),
        verdict=view.verdict.verdict,
        exit_code=view.exit_code,
        sealed_clean=view.sealed_clean,
        subject=view.verdict.subject or view.record.subject,
    )


def _rows(first: ReportView, second: ReportView) -> list[Compared]:
    old, new = numbers_of(first), numbers_of(second)
    return [
        _row(place, old.get(place), new.get(place), lower_is_better((first if place in old else second).spec, place))
        for place in dict.fromkeys((*old, *new))
    ]


def _row(place: Place, a: Number | None, b: Number | None, lower: bool) -> Compared:
    found = difference(a.arm() if a else NO_NUMBER, b.arm() if b else NO_NUMBER)
    return Compared(
        **vars(place),
        better="lower" if lower else "higher",
        a=a,
        b=b,
        difference=Interval(value=finite(found.value), lower=finite(found.lower), upper=finite(found.upper)),
        answer=_answer(found.direction, lower),
    )


def _answer(direction: Direction, lower_is_better: bool) -> Answer:
    match direction:
        case "unknown":
            return "not enough data"
        case "undecided":
            return "no difference shown"
        case _:
            return "better" if (direction == "lower") == lower_is_better else "worse"


def _order(row: Compared) -> tuple[bool, bool, int, int, float]:
    return not row.in_both, not _judged_worse(row), ANSWERS.index(row.answer), KINDS.index(row.kind), -_size(row)


def _judged_worse(row: Compared) -> bool:
    """Whether its verdict went down from A to B, such as from pass to fail, whatever the numbers show."""
    verdicts = [number.verdict if number else None for number in (row.a, row.b)]
    before, after = (None if verdict is None else RANK.index(verdict) for verdict in verdicts)
    return before is not None and after is not None and after > before


def _size(row: Compared) -> float:
    """The difference as a share of A; without bound where there is no such share, as when A is 0."""
    base = row.a.value if row.a else None
    if row.difference.value is None or not base:
        return math.inf
    return abs(row.difference.value / base)
