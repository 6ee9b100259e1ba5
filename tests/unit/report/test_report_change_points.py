"""The section on change points: who told first, in words."""

from __future__ import annotations

from dataclasses import replace

import report_views as views

from chaosgate.model.change_points import ChangePoint, SliChanges
from chaosgate.model.result import Estimates
from chaosgate.report.change_points import change_section
from chaosgate.report.view import ReportView

CHANGE = ChangePoint(
    at=21, lower=20, upper=22, told=24, p=0.001, before=0.05, after=0.2, fault="slow-wire", detected_after=3.25
)
SERIES = SliChanges(sli="ttft-p95", dimension="duration", slice=1.0, at=(20.0, 21.0), values=(0.05, 0.2))


def view(*series: SliChanges) -> ReportView:
    passing = views.passing()
    assert passing.estimates is not None
    estimates: Estimates = passing.estimates.model_copy(update={"change_points": series})
    return replace(passing, estimates=estimates)


def test_the_first_to_tell_is_said_with_its_time_to_detect() -> None:
    section = change_section(view(SERIES.model_copy(update={"changes": (CHANGE,)})))
    assert section is not None
    assert section.first == (
        "ttft-p95 changed from 50ms to 200ms at 21 s (95 % interval 20 to 22 s) and told it at 24 s, 3.2 s after a "
        "dose of slow-wire came on. It was the first to tell."
    )
    assert section.plot.startswith("<svg")


def test_a_change_that_took_the_whole_run_says_so() -> None:
    late = CHANGE.model_copy(update={"told": None})
    section = change_section(view(SERIES.model_copy(update={"changes": (late,)})))
    assert section is not None
    assert section.first == "No judged SLI could tell a change before the run ended."
    assert section.changes == (
        "ttft-p95 changed from 50ms to 200ms at 21 s (95 % interval 20 to 22 s), which only the whole run tells.",
    )


def test_a_quiet_run_and_doubtful_slices_are_said() -> None:
    doubtful = SERIES.model_copy(update={"autocorrelation": 0.4})
    section = change_section(view(doubtful))
    assert section is not None
    assert section.first == "No judged SLI changed its level."
    assert section.notes == (
        "ttft-p95: neighbouring slices are alike (0.40), as doses that come and go make them, or the target; "
        "where it is the target, a change may be a false alarm",
    )


def test_older_estimates_have_no_section() -> None:
    assert change_section(view()) is None
