"""One value of a JSON text changes; every other byte stays, whatever a reader of JSON would make of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.model.json_splice import elements, replaced, written

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "path", "left"),
    [
        ('{"a": 1e400, "b": 2}', ("b",), '{"a": 1e400, "b": X}'),
        (
            ' {"n":0.12345678901234567890 ,\n"b" : [ 1 ,2 ] } ',
            ("b", 1),
            ' {"n":0.12345678901234567890 ,\n"b" : [ 1 ,X ] } ',
        ),
        ('{"t": 1, "b": 2, "t": 3}', ("b",), '{"t": 1, "b": X, "t": 3}'),
        ('{"b": 1, "b": {}}', ("b",), '{"b": X, "b": X}'),
        ('{"b": 1, "b": {"c": 2}}', ("b", "c"), '{"b": 1, "b": {"c": X}}'),
        ('{"a": NaN}', ("b",), '{"a": NaN,"b":X}'),
        ("{ }", ("b",), '{ "b":X}'),
        ('{"\\u0062": 1}', ("b",), '{"\\u0062": X}'),
        ("[]", ("b",), "[]"),
        ("[1]", (1,), "[1]"),
        ('{"a": 1}', ("b", "c"), '{"a": 1}'),
    ],
)
def test_one_value_is_replaced_and_all_else_stays(text: str, path: tuple[str | int, ...], left: str) -> None:
    assert replaced(text, path, "X") == left


def test_the_elements_of_a_list_are_given_as_they_are_written() -> None:
    assert elements('{"m": [], "m": [ 1e400, {"a" : [2]},"]" ]}', "m") == ["1e400", '{"a" : [2]}', '"]"']


@given(st.dictionaries(st.text(max_size=3), VALUES, min_size=1), VALUES, st.data(), st.sampled_from([None, 1]))
def test_a_reader_finds_the_new_value_beside_the_old_ones(
    data: dict[str, object], value: object, drawn: st.DataObject, indent: int | None
) -> None:
    name = drawn.draw(st.sampled_from(sorted(data)))
    assert json.loads(replaced(json.dumps(data, indent=indent), (name,), written(value))) == {**data, name: value}


def test_half_of_a_surrogate_pair_is_escaped_and_other_text_is_not() -> None:
    text = written({"a": "\ud800é😀"})
    assert text == '{"a":"\\ud800é😀"}'
    assert json.loads(text) == {"a": "\ud800é😀"}
