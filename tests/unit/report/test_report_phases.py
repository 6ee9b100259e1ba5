"""When what happened: windows with and without injection.json, stretches and marks."""

from __future__ import annotations

from dataclasses import replace

import report_views as views

from chaosgate.model.observation import TimelineEvent
from chaosgate.report.phases import Mark, Stretch, marks_of, stretches_of, windows_of
from chaosgate.report.view import ReportView


def test_windows_come_in_the_order_of_time_with_their_phase_and_end(passing: ReportView) -> None:
    rows = windows_of(passing)
    assert [row.window for row in rows] == list(range(26))
    assert (rows[2].phase, rows[2].fault, rows[2].dose, rows[2].on, rows[2].off) == (
        "block1",
        "slow-wire",
        0.22,
        27.0,
        29.0,
    )
    assert (rows[2].applied, rows[2].ended) == (38, "removed")


def test_without_injection_json_the_timeline_tells_the_same(passing: ReportView) -> None:
    assert windows_of(replace(passing, injections={})) == windows_of(passing)


def test_a_window_that_never_went_off_is_open(passing: ReportView) -> None:
    events = [TimelineEvent(at=3.0, event="on", phase="block1", fault="slow-wire", window=0, dose=0.1)]
    (row,) = windows_of(replace(passing, injections={}, timeline=events))
    assert (row.off, row.applied, row.ended) == (None, None, "not seen")


def test_the_baseline_starts_after_its_warmup_and_recovery_at_the_last_off(passing: ReportView) -> None:
    assert stretches_of(passing) == (Stretch("baseline", 5.5, 17.6), Stretch("recovery", 86.5, 98.5))


def test_a_phase_that_did_not_end_has_no_stretch(passing: ReportView) -> None:
    events = [event for event in passing.timeline if event.event not in ("done", "injected")]
    assert stretches_of(replace(passing, timeline=events)) == ()


def test_halts_and_expiries_are_marked_and_removals_are_not(undecided: ReportView) -> None:
    assert marks_of(undecided) == (Mark(71.6, "halt"),)
    expired = replace(undecided, timeline=views.timeline(views.windows()[:2], why="expired"))
    assert marks_of(expired) == (Mark(24.0, "slow-wire expired"), Mark(26.5, "slow-wire expired"))
