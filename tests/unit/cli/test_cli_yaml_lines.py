"""Small pieces of YAML read back as what was written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.cli.yaml_lines import WIDTH, entry_lines, flow, yaml_lines
from chaosgate.model.source import parse_source

TEXT = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=20)
SCALARS = st.one_of(TEXT, st.integers(-(10**9), 10**9), st.booleans(), st.none())
KEYS = st.from_regex(r"[a-z][a-zA-Z]{0,8}", fullmatch=True).filter(lambda key: key not in ("true", "false", "null"))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)


@given(VALUES)
def test_what_is_written_reads_back(value: Any) -> None:
    assert parse_source("\n".join(entry_lines("key", value)), "written").data == {"key": value}


@pytest.mark.thorough
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=5))
def test_a_mapping_reads_back_without_a_key(value: dict[str, Any]) -> None:
    assert parse_source("\n".join(yaml_lines(value)), "written").data == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"sli": "error-rate", "bound": "<= 5 %"}, '{sli: error-rate, bound: "<= 5 %"}'),
        ({"rate": "20/s", "share": "5 %", "hold": "250ms"}, "{rate: 20/s, share: 5 %, hold: 250ms}"),
        (["1", "true", "null", "1e3", "0x1f", "~"], '["1", "true", "null", "1e3", "0x1f", "~"]'),
        ("a: b", '"a: b"'),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        (503, "503"),
        (True, "true"),
        (None, "null"),
    ],
)
def test_what_needs_quotes_gets_them(value: Any, text: str) -> None:
    assert flow(value) == text


def test_what_is_too_long_for_a_line_gets_several() -> None:
    value = {"first": "x" * 60, "second": ["y" * 60, "z" * 60]}
    lines = yaml_lines(value)
    assert lines == [f"first: {'x' * 60}", "second:", f"  - {'y' * 60}", f"  - {'z' * 60}"]
    assert all(len(line) <= WIDTH for line in lines)
