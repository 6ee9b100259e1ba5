"""The sentences and facts of a report."""

from __future__ import annotations

from dataclasses import replace

import pytest
import report_views as views
from cluster_run import cluster_run

from chaosgate.estimate import estimate_run
from chaosgate.model.fit import Threshold
from chaosgate.model.result import Health, Injection, Status
from chaosgate.model.safety import Override
from chaosgate.report import sections
from chaosgate.report.sections import Fact
from chaosgate.report.view import ReportView


@pytest.mark.parametrize(
    ("finished", "text"),
    [
        ("2026-03-01T09:31:38+00:00", "1 min 38 s"),
        ("2026-03-01T09:30:41.6+00:00", "42 s"),
        (None, "not finished"),
    ],
)
def test_how_long_a_run_took(finished: str | None, text: str) -> None:
    assert sections.run_duration("2026-03-01T09:30:00+00:00", finished) == text


def test_the_start_is_said_in_utc() -> None:
    assert sections.clock_time("2026-03-01T09:30:00Z") == "2026-03-01 09:30:00 UTC"
    assert sections.clock_time("2026-03-01T11:30:00+02:00") == "2026-03-01 09:30:00 UTC"


def sentence(threshold: Threshold) -> str:
    spec = views.make_spec()
    result = views.make_fits(threshold).fits[0]
    return sections.threshold_sentence(spec.spec.fits[0], result, spec.spec.faults[0].axis())


def test_a_fitted_threshold_in_words() -> None:
    assert sentence(views.knee_at(0.242)) == (
        "At a delay of 242ms [231ms, 251ms], 5 % of requests break ttft <= 300ms (1040 requests in 26 windows)."
    )


def test_an_open_end_is_said_in_words() -> None:
    open_end = views.knee_at(0.242).model_copy(
        update={"upper": None, "reason": "the upper end of the interval lies beyond the last dose and is open"}
    )
    assert sentence(open_end) == (
        "At a delay of 242ms [231ms, inf), 5 % of requests break ttft <= 300ms (1040 requests in 26 windows). "
        "Note: the upper end of the interval lies beyond the last dose and is open."
    )


def test_a_bracketed_threshold_in_words() -> None:
    bracket = Threshold(outcome="bracketed", value=None, lower=0.22, upper=0.26, n=800, windows=20)
    assert sentence(bracket) == (
        "The doses separate, so no curve is fitted: the delay at which 5 % of requests break "
        "ttft <= 300ms lies between 220ms and 260ms (800 requests in 20 windows)."
    )


def test_a_refused_threshold_in_words() -> None:
    refused = Threshold(
        outcome="refused", value=None, lower=None, upper=None, n=80, windows=4, reason="no dose broke the bound"
    )
    assert sentence(refused) == "No threshold: no dose broke the bound (80 requests in 4 windows)."


def test_reasons_are_sorted_worst_first_and_otherwise_kept(failing: ReportView) -> None:
    found = [(r.verdict, r.objective) for r in sections.sorted_reasons(failing.verdict.reasons)]
    assert found == [("fail", "first-token"), ("warn", "headroom"), ("pass", "same-answers"), ("pass", "back")]


def test_the_dose_table_has_a_column_an_sli_and_a_row_a_dose(passing: ReportView) -> None:
    (table,) = sections.dose_tables(passing)
    assert (table.fault, table.slis) == ("slow-wire", ("ttft-p95", "exact-match"))
    assert [label for label, _ in table.rows] == [
        "controls (dose 0)",
        "dose 100ms",
        "dose 180ms",
        "dose 220ms",
        "dose 260ms",
        "dose 320ms",
    ]
    assert [cell.value for cell in table.rows[1][1]] == ["182ms", "99.75 %"]
    assert table.rows[0][1][1].value == "-"


def test_an_injection_that_declined_or_was_halted_says_why(undecided: ReportView) -> None:
    assert sections.injection_notes(undecided) == ["block1: halted: error-rate > 50 % for 3 s"]
    status = Status(status="declined", reason="the steady state does not hold")
    declined = replace(undecided, injections={"block1": Injection(phase="block1", status=status)})
    assert sections.injection_notes(declined) == ["block1: declined: the steady state does not hold"]


def test_health_marks_what_spoils_a_run() -> None:
    healthy = Health(schedule_delay_p99=0.0041, requests=1890, straddlers=37)
    assert [fact for fact in sections.health_facts(healthy) if fact.bad] == []
    sick = Health(
        schedule_delay_p99=0.0632,
        requests=0,
        straddlers=0,
        drift=("the controls rose",),
        gaps=("window 3 holds no request",),
        subject_changed="weights differ",
        problems=("the ledger lacks 3 requests",),
    )
    assert [(fact.label, fact.value) for fact in sections.health_facts(sick) if fact.bad] == [
        ("schedule delay p99", "63.2ms (at most 50ms is allowed)"),
        ("requests", "0"),
        ("drift of the controls", "the controls rose"),
        ("gaps in the data", "window 3 holds no request"),
        ("subject", "weights differ"),
        ("other problems", "the ledger lacks 3 requests"),
    ]


def test_health_says_how_many_requests_were_unguarded() -> None:
    facts = {
        fact.label: fact.value
        for fact in sections.health_facts(Health(schedule_delay_p99=0.004, requests=900, straddlers=37, unguarded=268))
    }
    assert facts["requests"] == "900, of them 268 unguarded: these are the witnesses', all others are judged"


def test_a_witness_row_counts_unguarded_requests_where_there_are_any(passing: ReportView) -> None:
    (row,) = sections.witness_rows(passing)
    assert row.applied.endswith(" requests")
    assert "unguarded" not in row.applied
    body = passing.spec.spec.model_copy(update={"unguarded": 0.3})
    (row,) = sections.witness_rows(replace(passing, spec=passing.spec.model_copy(update={"spec": body})))
    assert row.applied.endswith(" unguarded requests")


def test_an_unknown_schedule_delay_spoils_a_run() -> None:
    facts = sections.health_facts(Health(schedule_delay_p99=None, requests=9, straddlers=9))
    assert facts[0] == Fact("schedule delay p99", "- (at most 50ms is allowed)", bad=True)


def test_the_record_says_where_the_run_is_found_again(passing: ReportView) -> None:
    facts = {fact.label: fact.value for fact in sections.record_facts(passing)}
    assert facts["run"] == passing.run
    assert facts["recorded in"] == passing.record.recorded
    assert facts["spec digest"] == passing.spec.digest()
    assert (facts["exit code"], facts["label suite"]) == ("0", "quickstart")


def test_the_subject_is_named_with_its_versions_and_arguments() -> None:
    facts = {fact.label: fact.value for fact in sections.subject_facts(views.SUBJECT)}
    assert (facts["engine"], facts["arguments"]) == ("embedded 0.1.0", "max_batch=8 seed=0")
    bare = views.SUBJECT.model_copy(update={"weights_digest": None, "engine_version": None, "arguments": {}})
    facts = {fact.label: fact.value for fact in sections.subject_facts(bare)}
    assert (facts["engine"], facts["weights"], facts["arguments"]) == ("embedded", "not reported", "none reported")


@pytest.mark.parametrize("overrides", [(), (Override(rule="min-healthy", reason="there is but one copy to hit"),)])
def test_rules_of_safety_that_did_not_hold_are_shown(passing: ReportView, overrides: tuple[Override, ...]) -> None:
    record = passing.record.model_copy(update={"overrides": overrides})
    facts = sections.record_facts(replace(passing, record=record))

    assert [one for one in facts if one.label.startswith("overridden")] == [
        Fact(f"overridden: {one.rule}", one.reason) for one in overrides
    ]


def test_a_fault_of_the_cluster_changes_objects_and_says_how_its_target_healed(passing: ReportView) -> None:
    run = cluster_run()
    view = replace(passing, spec=run.spec, estimates=estimate_run(run), injections=run.injections, timeline=())

    (row,) = sections.witness_rows(view)

    assert (row.applied, row.before, row.during, row.after) == ("3 objects", "0", "1", "0")
    assert row.healing.startswith("as many pods were ready again within ")
    assert sections.touched_words(view) == "3 objects changed"
    assert sections.touched_words(passing).endswith(" requests touched")
