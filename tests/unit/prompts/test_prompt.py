"""A prompt says what is sent, what is right, and what the user of a log would take."""

from __future__ import annotations

import pytest

from chaosgate.prompts.prompt import Message, Prompt, Suggestion


def test_messages_are_the_history_and_then_the_prompt() -> None:
    history = (Message("system", "be short"), Message("user", "facts red=blue\n?red="), Message("assistant", "blue"))
    assert Prompt("?red=", "blue", history=history).messages() == [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": "facts red=blue\n?red="},
        {"role": "assistant", "content": "blue"},
        {"role": "user", "content": "?red="},
    ]


@pytest.mark.parametrize(
    ("prompt", "grade"),
    [
        (Prompt("?", '{"a":1,"b":2}', "json"), "right"),
        (Prompt("?", '{"a":1,"b":2}', "text"), "wrong"),
        (Prompt("?", '{"a":1}', "json"), "wrong"),
        (Prompt("?", None, "json"), None),
    ],
)
def test_an_answer_is_graded_by_the_prompts_form(prompt: Prompt, grade: str | None) -> None:
    assert prompt.grade('{"b": 2, "a": 1}') == grade


@pytest.mark.parametrize(
    ("suggestion", "answer", "text", "taken"),
    [
        (Suggestion("blue", True), "blue", "blue", True),
        (Suggestion("blue", False), "blue", " blue", False),
        (Suggestion("red", True), "blue", "red", True),
        (Suggestion("red", False), "blue", "red", False),
        (Suggestion("red", True), "blue", "blue", True),
        (Suggestion("red", True), "blue", "green", False),
        (Suggestion("red", True), None, "red", True),
        (Suggestion("red", True), None, "green", None),
        (None, "blue", "blue", None),
    ],
)
def test_what_was_suggested_meets_its_fate_again_and_else_the_right_answer_is_taken(
    suggestion: Suggestion | None, answer: str | None, text: str, taken: bool | None
) -> None:
    assert Prompt("?", answer, suggestion=suggestion).accepts(text) is taken


@pytest.mark.parametrize("suggestion", ['{"a": 1, "b": 2}', '{"a":'])
def test_a_suggestion_in_json_is_known_again_broken_ones_too(suggestion: str) -> None:
    prompt = Prompt("?", '{"a":0}', "json", suggestion=Suggestion(suggestion, True))
    assert prompt.accepts(suggestion) is True
    assert prompt.accepts('{"b":2,"a":1}') is (suggestion == '{"a": 1, "b": 2}')
