"""The whole page: every part of a run is on it, whatever is missing is named, nothing is asked of the network."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import report_views as views
from report_page import Page

from chaosgate.model.fit import Threshold
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.result import Reason, Verdict
from chaosgate.report.render import render_report
from chaosgate.report.view import ReportView

VIEWS = {
    "pass": views.passing,
    "fail": views.failing,
    "inconclusive": views.undecided,
    "error": views.broken,
}
SECTIONS = (
    "Why",
    "Objectives",
    "Threshold",
    "Timeline",
    "What was injected",
    "Did it bite, is it gone",
    "Can the measurement be trusted",
    "Subject",
    "Record",
    "Environment",
    "Run it again",
)
EVIL = "<script>alert('x')</script>\"><img src=//example.org/x>"


@cache
def html_of(verdict: str) -> str:
    return render_report(VIEWS[verdict]())


def rendered(view: ReportView) -> Page:
    return Page(render_report(view))


@pytest.mark.thorough
@pytest.mark.parametrize("verdict", VIEWS)
def test_the_banner_has_the_verdict_as_a_word_and_as_a_colour(verdict: str) -> None:
    html = html_of(verdict)
    assert f'<header class="banner {verdict}">' in html
    assert f'<p class="word">{verdict}</p>' in html
    assert f".{verdict}" in html


def test_a_warning_has_its_own_banner(passing: ReportView) -> None:
    warned = replace(passing, verdict=passing.verdict.model_copy(update={"verdict": "warn"}))
    page = rendered(warned)
    assert "banner warn" in page.values("class")
    assert "a warning stands. This subject may be deployed." in page.text


@pytest.mark.parametrize("verdict", VIEWS)
def test_every_section_is_there_in_order_whatever_is_missing(verdict: str) -> None:
    text = Page(html_of(verdict)).text
    places = [text.index(f" {name} ") for name in SECTIONS]
    assert places == sorted(places)


def test_the_head_says_which_spec_what_it_proves_when_and_how_long() -> None:
    text = Page(html_of("pass")).text
    assert "stream-degradation Proves: the first token stays in time while the wire gets slower" in text
    assert "2026-03-01 09:30:00 UTC 1 min 38 s run stream-degradation-20260301-093000-7f3a" in text


def test_a_spec_that_says_nothing_of_what_it_proves_has_no_such_line(passing: ReportView) -> None:
    bare = replace(passing, spec=views.make_spec(metadata={"annotations": {}}))
    assert "Proves" not in rendered(bare).text


@pytest.mark.parametrize("verdict", VIEWS)
def test_every_reason_is_written_out(verdict: str) -> None:
    reasons = VIEWS[verdict]().verdict.reasons
    text = Page(html_of(verdict)).text
    assert reasons
    for reason in reasons:
        assert reason.text in text


def test_what_passed_is_shown_at_once_only_when_all_passed() -> None:
    assert "<details open>\n<summary>4 checks passed</summary>" in html_of("pass")
    assert "<details>\n<summary>2 checks passed</summary>" in html_of("fail")
    assert "checks passed" not in html_of("error")


def test_a_verdict_without_reasons_says_so(passing: ReportView) -> None:
    silent = replace(passing, verdict=Verdict(verdict="error", reasons=()))
    assert "The verdict came without a reason." in rendered(silent).text


def test_every_objective_has_its_row() -> None:
    page = Page(html_of("fail"))
    assert page.row("first-token") == [
        "first-tokengate",
        "ttft-p95",
        "78ms [73.32ms, 85.02ms]",
        "640ms [601.6ms, 697.6ms]",
        "81ms [76.14ms, 88.29ms]",
        "<= 500ms",
        "dose <= 180ms of slow-wiren = 320, 8 windows",
        "fail",
    ]
    assert page.row("same-answers")[3] == "99.75 % [99.15 %, 100 %]"
    assert page.row("headroom")[3:] == [
        "142ms [131ms, 151ms]",
        "-",
        ">= 180ms",
        "lower end of its intervaln = 1040, 26 windows",
        "warn",
    ]
    assert page.row("back")[6] == "recovery, from 1.2s onn = 240, 6 windows"


def test_the_judged_cell_is_marked() -> None:
    html = html_of("pass")
    assert '<td data-label="under fault" class="judged"><span class="value">268ms</span>' in html
    assert '<td data-label="recovery" class="judged"><span class="value">81ms</span>' in html


def test_every_window_is_listed_with_the_requests_it_touched() -> None:
    page = Page(html_of("pass"))
    rows = [cells for cells in page.rows if cells[0] == "block1"]
    assert len(rows) == 26
    assert rows[0] == ["block1", "slow-wire", "0", "0 (control)", "22.00", "24.00", "0", "removed"]
    assert rows[2] == ["block1", "slow-wire", "2", "220ms", "27.00", "29.00", "38", "removed"]
    assert "26 windows, 6 of them controls at dose 0; 799 requests touched" in page.text


def test_a_halt_is_said_and_drawn() -> None:
    page = Page(html_of("inconclusive"))
    assert "block1: halted: error-rate > 50 % for 3 s" in page.text
    assert "halts and expiries marked: 1" in " ".join(page.values("aria-label"))


def test_the_witness_is_the_client_and_says_bitten_and_gone() -> None:
    page = Page(html_of("pass"))
    assert page.row("slow-wireat 320ms")[1:] == [
        "mean time to first token",
        "41.2ms",
        "360.8ms",
        "41.9ms",
        "803 requests",
        "yes",
        "yes",
    ]
    assert "The witness is the client that sent the load, never the injector." in page.text


def test_a_fault_that_did_not_bite_says_no_and_why(passing: ReportView) -> None:
    assert passing.estimates is not None
    reading = passing.estimates.witnesses[0].model_copy(update={"bitten": False, "reason": "it rose by 3ms only"})
    estimates = passing.estimates.model_copy(update={"witnesses": (reading,)})
    row = rendered(replace(passing, estimates=estimates)).row("slow-wireat 320ms")
    assert (row[1], row[6]) == ("mean time to first tokenit rose by 3ms only", "no")


def test_health_problems_stand_out() -> None:
    text = Page(html_of("inconclusive")).text
    assert "schedule delay p99 problem 63.2ms (at most 50ms is allowed)" in text


def test_subject_digests_environment_and_command_are_there(passing: ReportView) -> None:
    text = Page(html_of("pass")).text
    assert passing.spec.digest() in text
    assert views.SUBJECT.weights_digest is not None
    assert views.SUBJECT.weights_digest in text
    assert "python 3.11.9" in text
    assert passing.record.recorded in text
    assert "chaosgate run SPEC" in text
    assert "seed 7" in text
    assert "maxTokens: 8" in text


def test_without_a_command_line_the_spec_is_named_by_its_digest() -> None:
    assert "chaosgate run SPEC SPEC is the file whose digest is given above." in Page(html_of("error")).text


def test_a_run_that_ended_early_names_what_is_missing() -> None:
    page = Page(html_of("error"))
    for sentence in (
        "The run ended before a threshold could be fitted.",
        "The run ended before anything was measured.",
        "Nothing was injected.",
        "No witness was read.",
        "Nothing was estimated, so nothing is known of the measurement.",
        "The target was not read back.",
        "not finished",
    ):
        assert sentence in page.text
    assert "svg" not in page.tags


def test_a_spec_without_a_fit_says_so(passing: ReportView) -> None:
    objectives = [{"name": "back", "sli": "ttft-p95", "bound": "<= 300ms", "at": "recovery"}]
    bare = replace(passing, spec=views.make_spec(fits=[], objectives=objectives), fits=None)
    assert "The spec asks for no fit." in rendered(bare).text


def test_a_refused_fit_says_why_and_draws_what_was_observed_without_a_curve(passing: ReportView) -> None:
    points = views.knee_at(0.242).points
    refused = Threshold(
        outcome="refused",
        value=None,
        lower=None,
        upper=None,
        n=80,
        windows=4,
        reason="the share does not rise with the dose",
        points=points,
    )
    page = rendered(replace(passing, fits=views.make_fits(refused)))
    assert "No threshold: the share does not rise with the dose" in page.text
    assert "observed, 95 % interval" in page.text
    assert "fitted curve" not in page.text


def test_a_refused_fit_without_points_has_no_plot(passing: ReportView) -> None:
    refused = Threshold(outcome="refused", value=None, lower=None, upper=None, n=0, windows=0, reason="no request")
    page = rendered(replace(passing, fits=views.make_fits(refused)))
    assert "No threshold: no request (0 requests in 0 windows)." in page.text
    assert page.tags.count("svg") == 1


def test_two_faults_have_two_lanes_and_two_units(passing: ReportView) -> None:
    both = views.make_spec(
        faults=[passing.spec.spec.faults[0], views.error_fault()],
        objectives=[{"name": "back", "sli": "ttft-p95", "bound": "<= 300ms", "at": "recovery"}],
    )
    injection = passing.injections["block1"]
    extra = injection.windows[2].model_copy(update={"fault": "overload", "dose": 0.3, "on": 90.0, "off": 92.0})
    injections = {"block1": injection.model_copy(update={"windows": (*injection.windows, extra)})}
    page = rendered(replace(passing, spec=both, injections=injections))
    assert ["block1", "overload", "2", "30 %"] in [cells[:4] for cells in page.rows]
    assert {"overload", "30 %", "320ms"} <= {piece.strip() for piece in page.pieces}


@pytest.mark.parametrize("verdict", VIEWS)
def test_nothing_is_asked_of_the_network_and_nothing_is_a_script(verdict: str) -> None:
    html = html_of(verdict)
    page = Page(html)
    assert page.addresses
    assert [address for address in page.addresses if not address.startswith(("#", "data:,"))] == []
    assert not {"script", "img", "iframe", "object"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    style = html[html.index("<style>") : html.index("</style>")]
    assert "@import" not in style
    assert "url(" not in style


@pytest.mark.parametrize("verdict", VIEWS)
def test_ids_are_unique_and_every_reference_has_its_target(verdict: str) -> None:
    page = Page(html_of(verdict))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    targets = [address[1:] for address in page.addresses if address.startswith("#")]
    assert set(targets) <= set(ids)
    assert set(page.values("aria-labelledby")) <= set(ids)


@pytest.mark.parametrize("verdict", VIEWS)
def test_every_element_is_closed(verdict: str) -> None:
    assert Page(html_of(verdict)).open == []


def test_what_users_write_is_escaped_everywhere(passing: ReportView) -> None:
    spec = views.make_spec(metadata={"annotations": {"proves": EVIL, "owner": EVIL}})
    view = replace(
        passing,
        spec=spec,
        run=EVIL,
        verdict=Verdict(verdict="fail", reasons=(Reason(verdict="fail", text=EVIL),)),
        record=passing.record.model_copy(update={"environment": {EVIL: EVIL}, "recorded": EVIL}),
        timeline=[TimelineEvent(at=3.0, event="off", fault=EVIL, detail={"why": "expired"})],
    )
    html = render_report(view)
    assert "<script" not in html
    assert "<img" not in html
    page = Page(html)
    assert not {"script", "img"} & set(page.tags)
    assert page.text.count("<script>alert('x')</script>") >= 8


@pytest.mark.thorough
@pytest.mark.slow
def test_equal_views_give_equal_bytes_in_this_process_and_in_another() -> None:
    here = render_report(views.failing())
    assert render_report(views.failing()) == here
    code = (
        "import sys, report_views; from chaosgate.report.render import render_report;"
        "sys.stdout.buffer.write(render_report(report_views.failing()).encode())"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo"}
    other = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, timeout=60)
    assert other.stdout.decode() == here


def test_the_terminal_s_table_needs_no_plotting_library() -> None:
    code = "import sys, chaosgate.report.table; sys.exit('matplotlib' in sys.modules or 'jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
