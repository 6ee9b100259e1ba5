"""Pages with a limit: whole rows are left out, the least important ones, and the page says how many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.report.budget import Row, Section, fit_page

NOTE = "{count} rows left out"
HEAD = "## head"
ROWS = st.builds(
    Row, st.text(st.sampled_from("ab é漢🙂|"), max_size=30).map(lambda text: f"- {text}"), st.integers(0, 4)
)
SECTIONS = st.lists(
    st.builds(Section, st.sampled_from(["One", "Two"]), st.lists(ROWS, max_size=12), st.just(("| a |", "| --- |"))),
    max_size=4,
)


def rows(count: int, rank: int = 0) -> list[Row]:
    return [Row(f"- row {number} of rank {rank}", rank) for number in range(count)]


@given(SECTIONS, st.integers(0, 2_000))
def test_the_page_keeps_its_limit_and_loses_whole_rows_only(sections: list[Section], room: int) -> None:
    bare = len(fit_page(HEAD, [Section(each.title, (), empty="x" * 40) for each in sections], 10_000, NOTE).encode())
    limit = bare + room
    page = fit_page(HEAD, sections, limit, NOTE)
    assert len(page.encode()) <= limit
    allowed = {
        HEAD,
        "",
        "### One",
        "### Two",
        "| a |",
        "| --- |",
        *(row.text for each in sections for row in each.rows),
    }
    notes = [line for line in page.splitlines() if line not in allowed]
    lost = sum(int(line.removesuffix(" rows left out")) for line in notes)
    kept = sum(line.startswith("- ") for line in page.splitlines())
    assert kept + lost == sum(len(each.rows) for each in sections)


@given(SECTIONS)
def test_a_page_with_room_loses_nothing(sections: list[Section]) -> None:
    assert "left out" not in fit_page(HEAD, sections, 100_000, NOTE)


def test_what_matters_least_goes_first_and_the_order_stays() -> None:
    mixed = [Row("- holds 0", 4), Row("- broken 0", 0), Row("- holds 1", 4), Row("- broken 1", 0)]
    sections = [Section("Objectives", mixed), Section("Subject", [Row("- model", 3)])]
    whole = fit_page(HEAD, sections, 10_000, NOTE)
    assert whole == (
        "## head\n\n### Objectives\n\n- holds 0\n- broken 0\n- holds 1\n- broken 1\n\n### Subject\n\n- model\n"
    )
    cut = fit_page(HEAD, sections, 110, NOTE)
    assert cut == ("## head\n\n### Objectives\n\n- broken 0\n- broken 1\n\n2 rows left out\n\n### Subject\n\n- model\n")


def test_a_row_that_is_too_long_does_not_take_the_others_with_it() -> None:
    page = fit_page(HEAD, [Section("Why", [Row("- " + "x" * 500), Row("- short")])], 100, NOTE)
    assert "- short" in page
    assert "1 rows left out" in page


def test_no_row_at_all_is_said() -> None:
    assert fit_page(HEAD, [Section("Why", (), empty="Nothing.")], 100, NOTE) == "## head\n\n### Why\n\nNothing.\n"


def test_a_limit_below_the_headings_is_refused() -> None:
    with pytest.raises(ValueError, match=r"limit: read 20 bytes; at least 35 are needed for the headings alone"):
        fit_page(HEAD, [Section("Why", rows(2))], 20, NOTE)
