"""Broken JSON is closed and cut, never made up."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.filters.json_repair import mended, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(), VALUES, max_size=4)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('```\n{"a": 1}', '{"a": 1}'),
        ('Here it is: {"a": "}"} I hope it helps.', '{"a": "}"}'),
        ('{"a": [1, 2, {"b": "c', '{"a": [1, 2, {"b": "c"}]}'),
        ('{"a": 1,}', '{"a": 1}'),
        ("[1, 2", "[1, 2]"),
        ('{"a": 1, "b', '{"a": 1}'),
        ('{"a": 1, "b": tr', '{"a": 1}'),
        ('{"a": tr', "{}"),
        ('{"a": "he said \\"hi', '{"a": "he said \\"hi"}'),
        ('{"a": "x\\', "{}"),
    ],
)
def test_it_is_closed_and_cut_back_to_its_last_whole_entry(text: str, left: str) -> None:
    assert mended(text) == left


@pytest.mark.parametrize("text", ["", "no", "42", "]", "{]", '"a"'])
def test_what_holds_no_object_or_list_is_not_mended(text: str) -> None:
    assert mended(text) is None


@given(DOCUMENTS, st.text(alphabet="abc .\n"), st.text(alphabet="abc .\n"))
def test_talk_around_it_is_cut_away(value: Any, before: str, after: str) -> None:
    text = json.dumps(value)
    assert mended(before + text + after) == text


@given(DOCUMENTS, st.data())
def test_a_document_that_was_cut_anywhere_is_mended_to_a_part_of_it(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text)))]
    repaired = mended(cut)
    assert repaired is not None
    assert isinstance(read_json(repaired), type(value))
    kept = repaired.rstrip('"]}')
    assert text.startswith(kept)


@given(st.text(alphabet='{}[],:"\\ a1'))
def test_whatever_is_read_the_result_is_json(text: str) -> None:
    repaired = mended(text)
    if repaired is not None:
        read_json(repaired)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 50_000, '["' + "a" * 1_000_000, "```json\n{" + "\n" * 300_000 + "x"]
)
def test_depth_and_length_are_no_trap(text: str) -> None:
    repaired = mended(text)
    assert repaired is None or len(repaired) <= len(text) + 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("NaN", "NaN is no number"),
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ("[" * 100_000, "it is nested too deep"),
        ("{", "Expecting property name"),
    ],
)
def test_what_is_no_strict_json_is_a_value_error(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_json(text)
