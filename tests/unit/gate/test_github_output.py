"""What GitHub is told: commands that nothing can break out of, tables, and summaries of a limited size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from github_output import (
    SUMMARY_LIMIT,
    annotation,
    cell,
    escape_data,
    escape_property,
    fit,
    log_line,
    table,
    write_summary,
)
from hypothesis import given
from hypothesis import strategies as st


def unescape(text: str) -> str:
    """What GitHub reads: the inverse of its escapes, `%25` last."""
    for escape, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(escape, char)
    return text


def test_an_annotation_stands_at_its_place() -> None:
    said = annotation("read 'x', allowed: a, b\n100 % sure", "chaos-specs/a.yaml", 3, 5)
    assert said == (
        "::error file=chaos-specs/a.yaml,line=3,col=5,title=chaosgate::read 'x', allowed: a, b%0A100 %25 sure"
    )


def test_what_is_unknown_of_a_place_is_left_out() -> None:
    assert annotation("no", "a.yaml") == "::error file=a.yaml,title=chaosgate::no"
    assert annotation("no", "", level="warning") == "::warning title=chaosgate::no"


def test_the_name_of_a_file_cannot_begin_another_property_or_the_message() -> None:
    said = annotation("no", "a,line=9::b%\r\n.yaml", 1)
    assert said == "::error file=a%2Cline=9%3A%3Ab%25%0D%0A.yaml,line=1,title=chaosgate::no"


def test_a_name_that_is_no_utf8_can_be_printed() -> None:
    assert annotation("no", os.fsdecode(b"\xff.yaml")) == "::error file=\ufffd.yaml,title=chaosgate::no"


@given(st.text() | st.lists(st.sampled_from((":", "#", "[", " ", "\r", "\n", "x"))).map("".join))
def test_a_line_of_the_log_is_never_a_command(text: str) -> None:
    line = log_line(text)
    assert len(line.splitlines()) == 1
    assert not line.lstrip().startswith("::")
    assert "##[" not in line


@given(st.text())
def test_nothing_leaves_its_message_or_property(text: str) -> None:
    assert not set("\r\n") & set(escape_data(text))
    assert not set("\r\n:,") & set(escape_property(text))
    assert unescape(escape_data(text)) == text or "%" in text
    assert unescape(escape_property(text)) == text or "%" in text


@given(st.text(alphabet=st.sampled_from("%25AD0:,\r\n")))
def test_what_looks_like_an_escape_is_kept(text: str) -> None:
    # One pass over the escapes, as GitHub's runner makes it, must give back the text.
    escaped = escape_property(text)
    pieces = {"%25": "%", "%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","}
    read, position = "", 0
    while position < len(escaped):
        piece = pieces.get(escaped[position : position + 3])
        read += piece or escaped[position]
        position += 3 if piece else 1
    assert read == text


def test_a_cell_has_no_markup_and_does_not_end() -> None:
    assert cell("a|b\n<img> `x` [y](z) *s* \x1b[0m") == "a\\|b &lt;img&gt; \\`x\\` \\[y\\](z) \\*s\\* \ufffd\\[0m"


def test_a_table_has_a_line_a_row() -> None:
    assert table(("spec", "why"), [("a|b", "added")]) == "| spec | why |\n| --- | --- |\n| a\\|b | added |\n"


def test_a_summary_that_fits_is_whole() -> None:
    assert fit(["one", "two"], 8) == "one\ntwo\n"


def test_what_does_not_fit_is_left_out_whole_and_said() -> None:
    parts = ["a" * 100, "b" * 100, "ü" * 100]
    said = fit(parts, 400)
    assert said.startswith("a" * 100 + "\n" + "b" * 100 + "\n\n*1 more parts are left out: ")
    assert len(said.encode()) <= 400


@given(st.lists(st.text(max_size=60), max_size=20), st.integers(150, 600))
def test_a_summary_never_exceeds_its_limit(parts: list[str], limit: int) -> None:
    assert len(fit(parts, limit).encode(errors="surrogatepass")) <= limit


def test_a_summary_is_added_to_what_the_step_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "summary.md"
    file.write_text("before\n" + "x" * (SUMMARY_LIMIT - 207))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    write_summary(["fits", "y" * 300])
    said = file.read_text()
    assert said.startswith("before\n")
    assert "xfits\n\n*1 more parts are left out" in said
    assert file.stat().st_size <= SUMMARY_LIMIT


def test_without_github_a_summary_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_summary(["one"])
    assert capsys.readouterr().out == "one\n\n"
