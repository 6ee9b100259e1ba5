"""What a report is made from: the frozen results of one run, each of which may be missing but the last word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chaosgate.model.observation import TimelineEvent
from chaosgate.model.result import Estimates, Fits, Injection, Record, Verdict
from chaosgate.model.spec import ChaosSpec


@dataclass(frozen=True)
class ReportView:
    """One run as its report sees it. `injections` is by phase; a run that ended early has no estimates or fits."""

    spec: ChaosSpec
    run: str
    verdict: Verdict
    estimates: Estimates | None
    fits: Fits | None
    injections: Mapping[str, Injection]
    record: Record
    timeline: Sequence[TimelineEvent]
