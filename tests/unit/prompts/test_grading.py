"""An answer is right when it is the known one, and nothing that a model writes raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.prompts.grading import ANSWER_FORMS, AnswerForm, is_right

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@pytest.mark.parametrize(
    ("text", "right"),
    [("blue", True), (" blue\n", True), ("\u00a0blue", True), ("Blue", False), ("blue.", False), ("bl ue", False)],
)
def test_text_is_compared_character_by_character_but_for_space_around(text: str, right: bool) -> None:
    assert is_right(text, "blue", "text") is right


KNOWN = '{"red":"lamp","blue":["door",1,true,null]}'


@pytest.mark.parametrize(
    "text",
    [
        KNOWN,
        '\n{ "blue" : ["door", 1.0, true, null], "red" : "lamp" } ',
        '{"red":"\\u006camp","blue":["door",1e0,true,null]}',
    ],
)
def test_the_same_json_value_is_right_however_it_is_written(text: str) -> None:
    assert is_right(text, KNOWN, "json")
    assert not is_right(f"{text}x", KNOWN, "json")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "red",
        '{"red":"lamp"}',
        '{"red":"lamp","blue":["door",1,true,null],"more":1}',
        '{"red":"lamp","blue":["door",true,1,null]}',
        '{"red":"lamp","blue":["door",1,1,null]}',
        '{"red":"lamp","blue":["door",true,true,null]}',
        '{"red":"lamp","blue":["door",1,true,null,null]}',
        '{"red":"lamp","red":"lamp","blue":["door",1,true,null]}',
        '{"red":"Lamp","blue":["door",1,true,null]}',
        f"Here it is: {KNOWN}",
        f"```json\n{KNOWN}\n```",
        "[" * 100_000,
        "NaN",
    ],
)
def test_another_value_text_around_it_and_no_json_are_wrong(text: str) -> None:
    assert not is_right(text, KNOWN, "json")


def test_nan_equals_nothing_for_it_is_no_json() -> None:
    assert not is_right("NaN", "NaN", "json")


@given(VALUES, st.sampled_from([None, 0, 3]), st.booleans())
def test_indent_and_order_of_keys_say_nothing(value: Any, indent: int | None, ascii_only: bool) -> None:
    written = json.dumps(value, indent=indent, sort_keys=True, ensure_ascii=ascii_only)
    assert is_right(written, json.dumps(value), "json")


@given(VALUES, VALUES)
def test_two_values_are_right_for_each_other_when_they_are_one(one: Any, other: Any) -> None:
    forth, back = (is_right(json.dumps(a), json.dumps(b), "json") for a, b in ((one, other), (other, one)))
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert forth == back
    # 1 and 1.0 are one number in JSON and two texts.
    assert forth or not same


@given(st.text(), st.text(), st.sampled_from(ANSWER_FORMS))
def test_nothing_that_is_answered_raises(text: str, known: str, form: AnswerForm) -> None:
    assert is_right(text, known, form) in (True, False)
    assert is_right(text, text, "text")
