"""YAML that every reader takes as it was meant: text stays text, whether Python, Go or YAML 1.2 reads it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosgate.compile.yaml_text import yaml_text

ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from('{}\\"\n\x85\u2028\ufeff'), max_size=20)
NUMBER_LIKE = st.text("0123456789+-.eExXoObB_:TZynYN~", min_size=1, max_size=6)
VALUES = st.recursive(
    ANY_TEXT | NUMBER_LIKE | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=10,
)
WORDS = {
    form
    for word in (
        "~",
        "null",
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
        "y",
        "n",
        ".inf",
        "+.inf",
        "-.inf",
        ".nan",
        "<<",
        "=",
    )
    for form in (word, word.capitalize(), word.upper())
}
"""Text that YAML 1.1, YAML 1.2 or Go's reader takes for no text."""


def is_number(text: str) -> bool:
    """Whether any reader could take a plain scalar for a number: as Python does, which knows every form of theirs.

    All of them look at the first character first. Python's `-INFINITY` has no digit and is none of theirs; their own
    stand in WORDS.
    """
    if text[:1] not in tuple("+-.0123456789") or not any(map(str.isdecimal, text)):
        return False
    plain = text.replace("_", "")
    for read in (lambda: int(plain, 0), lambda: float(plain)):
        try:
            read()
        except ValueError:
            continue
        return True
    return False


@given(documents=st.lists(st.dictionaries(ANY_TEXT, VALUES, max_size=4), min_size=1, max_size=2))
def test_whatever_is_written_reads_back(documents: list[dict[str, Any]]) -> None:
    text = yaml_text(["one", "two"], documents)
    assert text.startswith("# one\n# two\n")
    assert list(yaml.safe_load_all(text)) == documents


@settings(max_examples=300)
@given(texts=st.lists(NUMBER_LIKE | ANY_TEXT, min_size=1, max_size=8))
def test_text_that_a_reader_takes_for_another_type_is_never_plain(texts: list[str]) -> None:
    node = yaml.compose(yaml_text([], [texts]), Loader=yaml.BaseLoader)
    plain = [scalar.value for scalar in node.value if scalar.style is None]
    assert [text for text in plain if is_number(text) or text in WORDS] == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("y", "'y'"),
        ("N", "'N'"),
        ("on", "'on'"),
        ("1e3", "'1e3'"),
        ("0o17", "'0o17'"),
        ("010", "'010'"),
        ("-1e3", "'-1e3'"),
        ("-.5", "'-.5'"),
        (".5e1", "'.5e1'"),
        ("1_000", "'1_000'"),
        ("2026-01-01", "'2026-01-01'"),
        ("null", "'null'"),
        ("", "''"),
        ("--run", "--run"),
        ("0.0.1", "0.0.1"),
        ("yes-we-can", "yes-we-can"),
    ],
)
def test_text_that_yaml_takes_for_another_type_is_quoted(text: str, written: str) -> None:
    assert yaml_text([], [{"key": text, f"{text}": 1}]) == f"key: {written}\n{written}: 1\n"


def test_keys_keep_their_order_and_text_of_several_lines_is_a_block() -> None:
    assert yaml_text(["c"], [{"data": "x\ny\n", "a": 1}]) == "# c\ndata: |\n  x\n  y\na: 1\n"


def test_no_line_is_folded() -> None:
    words = " ".join(["word"] * 500)
    assert yaml_text([], [{"key": words}]) == f"key: {words}\n"
