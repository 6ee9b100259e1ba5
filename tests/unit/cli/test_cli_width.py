"""Text for people is as wide as their terminal; in a log every line stays whole."""

from __future__ import annotations

import io
import os
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from chaosgate.cli.console import print_hanging
from chaosgate.cli.width import fold, text_width


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((columns, 24)))


@pytest.mark.parametrize(("columns", "width"), [(200, 110), (100, 100), (80, 80), (20, 60)])
def test_text_is_as_wide_as_the_terminal_within_limits(
    monkeypatch: pytest.MonkeyPatch, columns: int, width: int
) -> None:
    terminal(monkeypatch, columns)
    assert text_width(110) == width


@pytest.mark.parametrize("stdout", [io.StringIO(), None])
def test_where_there_is_no_terminal_its_size_says_nothing(
    monkeypatch: pytest.MonkeyPatch, stdout: io.StringIO | None
) -> None:
    terminal(monkeypatch, 80)
    monkeypatch.setattr("sys.stdout", stdout)
    assert text_width(110) == 110


def test_folded_text_goes_on_below_where_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch, 60)
    digest = "sha256:" + "0" * 64
    assert fold(f"the digest {digest} stays whole", 110, "what  ") == [
        "what  the digest",
        f"      {digest}",
        "      stays whole",
    ]


@given(text=st.text(alphabet="ab -", max_size=80), width=st.integers(20, 80))
def test_folding_loses_no_word(text: str, width: int) -> None:
    assert " ".join(fold(text, width, "  - ", "    ")).split() == f"- {text}".split() or not text.split()


def printed(head: str, body: str, *, terminal: bool, width: int = 30) -> list[str]:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=width, soft_wrap=True, color_system=None)
    print_hanging(console, Text(head), Text(body))
    file = console.file
    assert isinstance(file, io.StringIO)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_a_sentence_hangs_on_a_terminal_that_is_too_narrow() -> None:
    assert printed("verdict  ", "a sentence that is longer than that", terminal=True) == [
        "verdict  a sentence that is",
        "         longer than that",
    ]


@pytest.mark.parametrize(
    ("body", "on_terminal"),
    [("short", True), ("/a/path/that/is/longer/than/thirty/columns", True), ("a sentence that is longer", False)],
)
def test_what_fits_a_path_and_a_line_of_a_log_stay_whole(body: str, on_terminal: bool) -> None:
    assert printed("report   ", body, terminal=on_terminal) == [f"report   {body}"]
