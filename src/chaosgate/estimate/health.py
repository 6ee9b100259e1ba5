"""Whether the measurement itself can be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pydantic import ValidationError

from chaosgate.estimate.checks import events_of, find_gaps, find_problems
from chaosgate.estimate.data import PhaseData, RunData
from chaosgate.estimate.drift import find_drift
from chaosgate.estimate.gauges import missing_gauges
from chaosgate.estimate.windows import RunWindows
from chaosgate.model.base import first_refusal
from chaosgate.model.blocks import BASELINE
from chaosgate.model.result import Health, Subject
from chaosgate.statistics.ranks import quantile_of


def make_health(run: RunData, windows: RunWindows) -> Health:
    """The health of the measurement: the client's delay, what was left out, what drifted, changed or is missing."""
    judged = [r for requests in windows.requests.values() for r in requests if not r.observation.warmup]
    changes = [change for phase in run.phases.values() for change in _changes(run.subject, phase)]
    return Health(
        schedule_delay_p99=_schedule_delay(windows),
        requests=len(judged),
        unguarded=sum(run.spec.unguards(request.observation.request) for request in judged),
        straddlers=windows.straddlers,
        drift=tuple(find_drift(run.spec, windows)),
        subject_changed="; ".join(dict.fromkeys(changes)) or None,
        gaps=tuple(find_gaps(run, windows)),
        problems=(*find_problems(run, windows), *_subject_problems(run, windows)),
        gauges_missing=tuple(missing_gauges(run.phases)),
    )


def _schedule_delay(windows: RunWindows) -> float | None:
    """P99 of sending minus schedule in the phase in which it is largest, warm-up left out, seconds."""
    worst: list[float] = []
    for requests in windows.requests.values():
        seen = [request.observation for request in requests if not request.observation.warmup]
        if not seen:
            return None
        worst.append(quantile_of((each.sent - each.scheduled for each in seen), 0.99))
    delay = max(worst, default=math.nan)
    return delay if math.isfinite(delay) else None


def _changes(recorded: Subject, phase: PhaseData) -> Iterator[str]:
    for event in events_of(phase, "subject"):
        try:
            found = Subject.model_validate(event.detail)
        except ValidationError:
            continue
        before, now = recorded.to_json(), found.to_json()
        for key in sorted(before):
            if before[key] != now[key]:
                yield f"{key} was {before[key]!r} at deploy and is {now[key]!r} in {phase.phase}"


def _subject_problems(run: RunData, windows: RunWindows) -> Iterator[str]:
    """The subject must have been read back, readably, after the last window of each phase."""
    ends = {BASELINE: max((window.end for window in windows.baseline), default=math.inf)}
    for block, recovery in zip(run.blocks, windows.recoveries, strict=True):
        ends[block.phase] = recovery.off if math.isfinite(recovery.off) else -math.inf
    for name, phase in run.phases.items():
        events = events_of(phase, "subject")
        if not any(event.at >= ends.get(name, math.inf) for event in events):
            yield f"{name}: the subject was not read back after the last window"
        for event in events:
            yield from _unreadable(name, event.detail)


def _unreadable(phase: str, detail: dict[str, object]) -> Iterator[str]:
    try:
        Subject.model_validate(detail)
    except ValidationError as error:
        yield f"{phase}: the subject that was read back is unreadable: {first_refusal(error)}"
