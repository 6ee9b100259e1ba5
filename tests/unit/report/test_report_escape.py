"""Hostile text in Markdown and XML, read back by real parsers: all of it is shown, none of it is obeyed."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chaosgate.errors import one_line
from chaosgate.report.escape import markdown_code, markdown_command, markdown_text, xml_text

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ALPHABET = st.sampled_from("ab1 \\`*_[]{}()#+-.!|~$<>&@:;=^\"'/\n\r\t\x00\x1b\u202e\u200b\u2028é漢🙂")
HOSTILE = st.text(ALPHABET, max_size=40)


def cells(table: str) -> list[list[str]]:
    """The text of each cell, by row; a cell that holds anything but text fails."""
    rows: list[list[str]] = []
    for token in PARSER.parse(table):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            children = token.children or []
            assert {child.type for child in children} <= {"text", "code_inline"}
            rows[-1].append("".join(child.content for child in children))
    return rows


def shown(text: str) -> str:
    """What a reader sees of `text`: one line, without what has no width or is trimmed."""
    return one_line(text).strip()


@given(HOSTILE, st.sampled_from([markdown_text, markdown_code, markdown_command]))
def test_a_cell_shows_the_text_and_the_table_keeps_its_form(text: str, escape: type[str]) -> None:
    table = f"| a | b |\n| --- | --- |\n| {escape(text)} | end |\n"
    head, row = cells(table)
    assert head == ["a", "b"]
    assert [cell.replace("\u200b", "") for cell in row] == [shown(text).replace("\u200b", ""), "end"]


@given(HOSTILE)
def test_a_list_item_stays_one_item_of_plain_text(text: str) -> None:
    tokens = PARSER.parse(f"- **fail** {markdown_text(text)}\n")
    assert [token.type for token in tokens if token.nesting == 1 or token.type == "html_block"] == [
        "bullet_list_open",
        "list_item_open",
        "paragraph_open",
    ]
    inline = next(token for token in tokens if token.type == "inline")
    assert {child.type for child in inline.children or []} <= {"text", "strong_open", "strong_close"}


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", r"a\|b"),
        (r"a\|b", r"a\\\|b"),
        ("`rm`", r"\`rm\`"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("a\n\n# b", "a  # b"),
        ("[x](http://y)", r"\[x](http://y)"),
        ("$x$", "&#36;x&#36;"),
        ("ttft-p95 at dose <= 180ms", "ttft-p95 at dose &lt;= 180ms"),
    ],
)
def test_what_is_escaped(text: str, escaped: str) -> None:
    assert markdown_text(text) == escaped


@pytest.mark.parametrize("text", ["@octocat", "see #12", ":tada:", "a:100:b", "@org/team"])
def test_no_name_is_left_that_a_forge_would_act_on(text: str) -> None:
    for mark, name in (("@", "octocat"), ("#", "12"), (":", "tada:"), (":", "100:"), ("@", "org")):
        assert mark + name not in markdown_text(text)
    assert markdown_text(text).replace("\u200b", "").replace("\\", "") == text


@pytest.mark.parametrize("text", ["sha256:4f1c", "models:/name-1", "run-20260301-093000-7f3a", "0.1.0"])
def test_plain_names_are_code(text: str) -> None:
    assert markdown_code(text) == f"`{text}`"


@pytest.mark.parametrize("text", ["a b", "`", "", "-x", "@a", "a|b"])
def test_everything_else_is_text(text: str) -> None:
    assert markdown_code(text) == markdown_text(text)


def test_a_command_is_code_unless_a_word_of_it_is_not_plain() -> None:
    assert markdown_command("chaosgate report run-1 -O report.html") == "`chaosgate report run-1 -O report.html`"
    assert markdown_command("chaosgate report a`b") == r"chaosgate report a\`b"


@given(st.text(st.characters(codec=None), max_size=60))
def test_any_text_survives_xml(text: str) -> None:
    element = ET.Element("a", {"b": xml_text(text)})
    element.text = xml_text(text)
    found = ET.fromstring(ET.tostring(element, encoding="utf-8"))
    expected = xml_text(text)
    assert found.get("b") == expected
    # A parser reads every line end as \n (XML 1.0, 2.11).
    assert (found.text or "") == expected.replace("\r\n", "\n").replace("\r", "\n")


def test_what_xml_cannot_carry_is_marked() -> None:
    assert xml_text("a\x00\x1b\ud800\ufffe\U0001f642\t\n") == "a\ufffd\ufffd\ufffd\ufffd\U0001f642\t\n"
