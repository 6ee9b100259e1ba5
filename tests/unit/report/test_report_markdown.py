"""The Markdown page, read back by a Markdown parser: what is on it, what is left out, and that no text breaks out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import report_views as views
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chaosgate.model.result import Cleanup, Reason, Subject, Verdict
from chaosgate.model.spec import ChaosSpec
from chaosgate.report.markdown import LIMIT, render_markdown
from chaosgate.report.view import ReportView, RunFile

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
VIEWS = {"pass": views.passing, "fail": views.failing, "inconclusive": views.undecided, "error": views.broken}
SECTIONS = ["Why", "Objectives", "Thresholds", "What to do next", "Subject", "Run"]
HOSTILE = "a | b `c` <script>alert(1)</script> [x](javascript:1) ![y](//z) **d** @octocat #12\n\n# e\n| f |\n"
CLEAN = Cleanup(clean=True, actions=())


class Page:
    """The parsed page: headings, rows of all tables, items of all lists, as text."""

    def __init__(self, text: str) -> None:
        self.headings: list[str] = []
        self.rows: list[list[str]] = []
        self.items: list[str] = []
        self.kinds: set[str] = set()
        opened = [""]
        for token in PARSER.parse(text):
            if token.nesting == 1:
                opened.append(token.type)
                self.rows += [[]] if token.type == "tr_open" else []
            elif token.nesting == -1:
                opened.pop()
            else:
                self._keep(token, opened[1:])

    def _keep(self, token: Any, opened: list[str]) -> None:
        children = token.children or []
        self.kinds |= {token.type, *(child.type for child in children)}
        text = "".join(child.content for child in children).replace("\u200b", "")
        if "heading_open" in opened:
            self.headings.append(text)
        elif "table_open" in opened:
            self.rows[-1].append(text)
        elif "list_item_open" in opened:
            self.items.append(text)

    def row(self, first: str) -> list[str]:
        return next(cells for cells in self.rows if cells[0] == first)


def with_objectives(count: int) -> ChaosSpec:
    objective = {"sli": "ttft-p95", "bound": "<= 500ms", "at": {"dose": "all"}}
    return views.make_spec(objectives=[{"name": f"objective-{number}", **objective} for number in range(count)])


@pytest.mark.parametrize("verdict", VIEWS)
def test_every_section_is_there_whatever_is_missing(verdict: str) -> None:
    page = Page(render_markdown(VIEWS[verdict]()))
    assert page.headings == [f"chaosgate: {verdict}", *SECTIONS]
    assert page.kinds <= {"inline", "text", "strong_open", "strong_close", "code_inline"}


def test_the_head_says_what_the_verdict_means_and_when() -> None:
    assert render_markdown(views.failing()).splitlines()[2] == (
        "`stream-degradation`: A gate objective is broken. This subject must not be deployed. "
        "2026-03-01 09:30:00 UTC, 1 min 38 s."
    )


def test_reasons_come_worst_first() -> None:
    page = Page(render_markdown(views.failing()))
    assert page.items[0] == "fail ttft-p95 at dose <= 180ms is 640ms [601.6ms, 697.6ms]; <= 500ms is allowed"
    assert page.items[1].startswith("warn the threshold knee may be as low as 131ms")
    assert page.items[1].endswith("(warns only)")


def test_every_objective_has_its_row() -> None:
    page = Page(render_markdown(views.failing()))
    assert page.row("first-token") == [
        "first-token",
        "ttft-p95",
        "78ms [73.32ms, 85.02ms]",
        "640ms [601.6ms, 697.6ms]",
        "81ms [76.14ms, 88.29ms]",
        "<= 500ms",
        "dose <= 180ms of slow-wire (n = 320, 8 windows)",
        "fail",
    ]
    assert "| **640ms \\[601.6ms, 697.6ms]** |" in render_markdown(views.failing())


def test_a_number_that_is_missing_says_why(passing: ReportView) -> None:
    assert passing.estimates is not None
    first, *rest = passing.estimates.objectives
    nothing = first.estimates[0].model_copy(update={"value": None, "reason": "n = 40 of 72 needed for a P95"})
    estimates = passing.estimates.model_copy(
        update={"objectives": (first.model_copy(update={"estimates": (nothing,)}), *rest)}
    )
    row = Page(render_markdown(replace(passing, estimates=estimates))).row("first-token")
    assert row[3] == "- (n = 40 of 72 needed for a P95)"


def test_a_threshold_has_its_interval() -> None:
    page = Page(render_markdown(views.passing()))
    assert any(item.startswith("knee At a delay of 242ms [231ms, 251ms], 5 % of requests") for item in page.items)


@pytest.mark.parametrize(
    ("verdict", "command"),
    [
        ("pass", "chaosgate compare EARLIER RUN"),
        ("fail", "chaosgate report RUN -O report.html"),
        ("inconclusive", "chaosgate run SPEC"),
        ("error", "chaosgate logs RUN"),
    ],
)
def test_it_says_what_to_do_next(verdict: str, command: str) -> None:
    assert f"`{command.replace('RUN', views.RUN)}`" in render_markdown(VIEWS[verdict]())


def test_subject_run_and_digests_are_there(passing: ReportView) -> None:
    page = Page(render_markdown(replace(passing, seal=CLEAN)))
    assert page.row("weights")[1] == views.SUBJECT.weights_digest
    assert page.row("run")[1] == views.RUN
    assert page.row("spec digest")[1] == passing.spec.digest()
    assert page.row("cleanup")[1] == "clean, nothing left behind"
    assert page.row("exit code")[1] == "0"


def test_an_unclean_run_says_so_at_the_top_and_what_to_do(passing: ReportView) -> None:
    unclean = replace(passing, seal=Cleanup(clean=False, actions=(), left=("engine (process 7)",)))
    page = Page(render_markdown(unclean))
    assert page.headings[0] == "chaosgate: pass, unclean"
    assert page.row("cleanup")[1] == "unclean: engine (process 7)"
    assert page.row("exit code")[1] == "4"
    assert f"`chaosgate cleanup {views.RUN}`" in render_markdown(unclean)
    assert "This subject may be deployed" not in render_markdown(unclean)


def test_what_conclude_writes_does_not_call_the_cleanup_missing(passing: ReportView) -> None:
    assert "chaosgate cleanup" not in render_markdown(passing)
    looked = replace(passing, files=(RunFile("", "spec.json", None),))
    page = Page(render_markdown(looked))
    assert "The run is not sealed; once it has ended, clean up: chaosgate cleanup " + views.RUN in page.items
    assert page.row("exit code")[1] == "4"
    assert page.headings[0] == "chaosgate: pass, unsealed"


def test_missing_files_are_named() -> None:
    files = (RunFile("", "spec.json", None), RunFile("conclude", "estimates.json", "missing"))
    page = Page(render_markdown(replace(views.broken(), files=files)))
    assert page.row("file conclude/estimates.json")[1] == "missing"
    assert not [row for row in page.rows if row[0] == "file spec.json"]


def test_hostile_text_cannot_break_out(passing: ReportView) -> None:
    spec = views.make_spec(metadata={"annotations": {HOSTILE: HOSTILE}})
    subject = Subject.model_construct(model=HOSTILE, engine=HOSTILE, arguments={HOSTILE: HOSTILE})
    reasons = (Reason.model_construct(verdict="fail", text=HOSTILE, objective="first-token"),)
    verdict = Verdict.model_construct(verdict="fail", reasons=reasons, subject=subject)
    record = passing.record.model_copy(update={"recorded": HOSTILE})
    seal = Cleanup(clean=False, actions=(), left=(HOSTILE,))
    files = (RunFile(HOSTILE, HOSTILE, HOSTILE),)
    text = render_markdown(
        replace(passing, spec=spec, verdict=verdict, record=record, seal=seal, files=files, run=HOSTILE)
    )
    page = Page(text)
    assert page.headings == ["chaosgate: fail, unclean", *SECTIONS]
    assert page.kinds <= {"inline", "text", "strong_open", "strong_close", "code_inline"}
    assert {len(row) for row in page.rows} == {2, 8}
    assert "@octocat" not in text
    assert "<script" not in text
    shown = "a | b `c` <script>alert(1)</script> [x](javascript:1) ![y](//z) **d** @octocat #12  # e | f |"
    assert page.row("model")[1].rstrip() == shown


@settings(max_examples=25)
@given(count=st.integers(0, 400), limit=st.integers(2_000, 20_000))
def test_a_long_page_keeps_its_limit_and_its_form(count: int, limit: int) -> None:
    view = views.passing()
    if count:
        reasons = tuple(Reason(verdict="fail", text="é" * (number % 90), objective=None) for number in range(count))
        view = replace(view, spec=with_objectives(count), verdict=Verdict(verdict="fail", reasons=reasons))
    text = render_markdown(view, limit)
    assert len(text.encode()) <= limit
    page = Page(text)
    assert page.headings[1:] == SECTIONS
    assert {len(row) for row in page.rows} <= {2, 8}


def test_what_is_broken_is_left_out_last() -> None:
    view = replace(views.passing(), spec=with_objectives(600))
    broken = Reason(verdict="fail", text="broken", objective="objective-599")
    fine = tuple(Reason(verdict="pass", text="x" * 80, objective=f"objective-{number}") for number in range(599))
    text = render_markdown(replace(view, verdict=Verdict(verdict="fail", reasons=(*fine, broken))), 8_000)
    page = Page(text)
    assert page.items[0] == "fail broken"
    assert page.row("objective-599")[7] == "fail"
    assert "Rows left out to keep this page short: " in text


def test_the_default_limit_suits_an_annotation() -> None:
    assert LIMIT < 64 * 1024
    view = replace(views.passing(), spec=with_objectives(2_000))
    assert LIMIT - 500 < len(render_markdown(view).encode()) <= LIMIT


def test_a_limit_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match=r"limit: read 100 bytes; at least \d+ are needed"):
        render_markdown(views.passing(), 100)


def test_equal_bytes_for_equal_input() -> None:
    assert render_markdown(views.failing()) == render_markdown(views.failing())
