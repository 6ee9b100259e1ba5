"""When what happened: a run's windows, the stretches around them and moments to mark, for plots and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from chaosgate.model.blocks import BASELINE
from chaosgate.model.observation import TimelineEvent
from chaosgate.report.view import ReportView


@dataclass(frozen=True)
class WindowRow:
    """One window of a sweep on the gateway's clock. None where a run ended before it was known."""

    phase: str
    fault: str
    window: int
    dose: float
    on: float
    off: float | None
    applied: int | None
    ended: str


@dataclass(frozen=True)
class Stretch:
    """A stretch of seconds on the gateway's clock with nothing injected: the baseline or a recovery."""

    label: Literal["baseline", "recovery"]
    start: float
    end: float


@dataclass(frozen=True)
class Mark:
    """A moment that needs to be seen: a halt, or a fault that expired instead of being removed."""

    at: float
    label: str


def windows_of(view: ReportView) -> tuple[WindowRow, ...]:
    """Every window in the order it was injected: from injection.json, else from the timeline's `on` and `off`."""
    found: list[WindowRow] = []
    for phase in sorted({*view.injections, *(event.phase or "" for event in view.timeline if event.event == "on")}):
        injection = view.injections.get(phase)
        if injection is None or not injection.windows:
            found.extend(_from_timeline(phase, view.timeline))
            continue
        for window in injection.windows:
            off = _event("off", phase, window.fault, window.window, view.timeline)
            found.append(WindowRow(**window.model_dump(), phase=phase, ended=_ending(off)))
    return tuple(sorted(found, key=lambda row: (row.on, row.fault, row.window)))


def stretches_of(view: ReportView) -> tuple[Stretch, ...]:
    """The baseline after its warm-up, and each phase's recovery from its last `off` on."""
    found: list[Stretch] = []
    windows = windows_of(view)
    for phase, start, end in _phases(view.timeline):
        last = max((row.off for row in windows if row.phase == phase and row.off is not None), default=None)
        if phase == BASELINE:
            found.append(Stretch("baseline", start, end))
        elif last is not None and last < end:
            found.append(Stretch("recovery", last, end))
    return tuple(found)


def marks_of(view: ReportView) -> tuple[Mark, ...]:
    """Halts and expiries, in the order of time."""
    found = [Mark(event.at, "halt") for event in view.timeline if event.event == "halt"]
    for event in view.timeline:
        if event.event == "off" and event.detail.get("why") == "expired":
            found.append(Mark(event.at, f"{event.fault} expired"))
    return tuple(sorted(found, key=lambda mark: mark.at))


def _phases(timeline: Sequence[TimelineEvent]) -> Iterable[tuple[str, float, float]]:
    """Phase, end of its warm-up and end, for each phase that was started and ended."""
    for started in timeline:
        if started.event != "started" or started.phase is None:
            continue
        ends = [event.at for event in timeline if event.phase == started.phase and event.event in ("injected", "done")]
        if ends:
            yield started.phase, started.at + float(started.detail.get("warmup", 0.0)), min(ends)


def _from_timeline(phase: str, timeline: Sequence[TimelineEvent]) -> Iterable[WindowRow]:
    for on in timeline:
        if on.event != "on" or on.phase != phase or on.fault is None or on.window is None or on.dose is None:
            continue
        off = _event("off", phase, on.fault, on.window, timeline)
        proof = _event("proof", phase, on.fault, on.window, timeline)
        yield WindowRow(
            phase=phase,
            fault=on.fault,
            window=on.window,
            dose=on.dose,
            on=on.at,
            off=None if off is None else off.at,
            applied=None if proof is None else proof.detail.get("applied"),
            ended=_ending(off),
        )


def _event(name: str, phase: str, fault: str, window: int, timeline: Sequence[TimelineEvent]) -> TimelineEvent | None:
    wanted = (name, phase, fault, window)
    return next((event for event in timeline if (event.event, event.phase, event.fault, event.window) == wanted), None)


def _ending(off: TimelineEvent | None) -> str:
    return "not seen" if off is None else str(off.detail.get("why", "removed"))
