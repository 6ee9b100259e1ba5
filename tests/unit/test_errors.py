"""Foreign text in errors, reasons and notes is one line that is safe to print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.errors import one_line
from chaosgate.model.result import Injection, Reason, Recording, Status


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain – text 5 %", "plain – text 5 %"),
        ("a\n::add-mask::b\r\nc\td", "a ::add-mask::b  c d"),
        ("\x1b[2Jgone\x00", "\ufffd[2Jgone\ufffd"),
        ("a\u2028b\u202ec\ud800", "a b\ufffdc\ufffd"),
    ],
)
def test_control_characters_become_a_space_or_a_mark(text: str, line: str) -> None:
    assert one_line(text) == line


@given(st.text())
def test_every_text_becomes_one_printable_line(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line) == len(text)
    assert one_line(line) == line


def test_reasons_are_one_line_wherever_they_stand() -> None:
    said, line = "x\n::error::\x1b[1m", "x ::error::\ufffd[1m"
    assert Reason(verdict="error", text=said).text == line
    assert Status(status="failed", reason=said).reason == line
    assert Recording(mlflow_run=None, reason=said).reason == line
    assert Injection(phase="block1", status=Status(status="ok"), halted=said).halted == line
