"""What differs between two runs besides their numbers: the parts of the spec, the subject, the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chaosgate.model.base import Frozen, Line
from chaosgate.model.result import Subject
from chaosgate.model.spec import ChaosSpec
from chaosgate.report.leaves import leaves
from chaosgate.report.scorers import scorer_lines
from chaosgate.report.view import ReportView


class Change(Frozen):
    """Something that is not the same in both runs; None where a run does not have it at all."""

    what: Line
    a: Line | None
    b: Line | None


def spec_changes(first: ChaosSpec, second: ChaosSpec) -> tuple[Change, ...]:
    """The values that make two specs two: whatever enters the digest and differs."""
    return tuple(_changes(first.digested(), second.digested()))


def parts_of(changes: Sequence[Change]) -> list[str]:
    """The top-level parts that the changes lie in, such as `workload` and `faults`."""
    return list(dict.fromkeys(change.what.split(".")[0].split("[")[0] for change in changes))


def subject_changes(first: ReportView, second: ReportView) -> tuple[Change, ...]:
    """What was under test: model, weights, image, engine and its arguments, as read back from the targets."""
    return tuple(_changes(*(_subject(view) for view in (first, second))))


def environment_changes(first: ReportView, second: ReportView) -> tuple[Change, ...]:
    """Versions and platform, and the scorers: a number that another scorer gave is another number."""
    return tuple(_changes(*(_environment(view) for view in (first, second))))


def _environment(view: ReportView) -> Mapping[str, str]:
    scorers = {label: words for label, words, _ in scorer_lines(view.estimates)}
    return dict(sorted((view.record.environment | scorers).items()))


def _subject(view: ReportView) -> Mapping[str, Any]:
    subject: Subject | None = view.verdict.subject or view.record.subject
    return {} if subject is None else subject.to_json()


def _changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Change]:
    old, new = dict(leaves(first)), dict(leaves(second))
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) != new.get(path):
            yield Change(what=path, a=old.get(path), b=new.get(path))
