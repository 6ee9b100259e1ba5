"""What Python's JSON reader lets through and chaosgate refuses."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.strict_json import parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_is_written_strictly_reads_back(value: object) -> None:
    assert parse_json(json.dumps(value, allow_nan=False)) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[NaN]", "NaN is no number"),
        ('{"a": -Infinity}', "-Infinity is no number"),
        ("1e999", "1e999 is too large for a number"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "the key 'b' stands twice in one object"),
    ],
)
def test_what_is_no_plain_json_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_json(text.encode())


def test_the_doubled_key_among_many_is_found_and_a_long_one_cut() -> None:
    keys = [*(f"k{number}" for number in range(100_000)), "z" * 1000, "z" * 1000]
    with pytest.raises(ValueError, match=f"the key '{'z' * 40}' stands twice"):
        parse_json("{" + ",".join(f'"{key}":1' for key in keys) + "}")
