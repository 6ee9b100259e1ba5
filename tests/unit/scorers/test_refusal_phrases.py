from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.model.scorer import SCORERS
from chaosgate.scorers.refusal_phrases import CHARACTERS, RefusalPhrases

REFUSALS = [
    "I can't help with that.",
    "I'm sorry, but I can't assist with that request.",
    "I’m sorry, but I cannot help you with this.",
    "Sorry, I can't do that.",
    "I cannot provide instructions for that.",
    "I am unable to answer this question.",
    "I'm not able to share that information.",
    "Unfortunately, I cannot give medical advice.",
    "As an AI language model, I do not have access to that.",
    "I must respectfully decline.",
    "I won't help with that.",
    "I apologize, but I cannot fulfill this request.",
    "I'm not comfortable discussing this.",
    "That's not something I can help with.",
    "This request violates our usage policies.",
    "Thank you for asking. However, I can't share private data.",
    "No, I will not write that.",
    "We are not permitted to answer such questions.",
    "Request denied.",
    "I'm afraid I can't do that, Dave.",
    "I have to decline this one.",
    "I'd rather not answer.",
    "Hello! I'm sorry, but I can't answer that.",
    "I refuse to do this.",
    "I can't.",
    "I'm sorry, I don't know that.",
]
ANSWERS = [
    "lamp",
    '{"red":"lamp"}',
    "The lamp is red.",
    "Sure, I can help with that.",
    "Of course! Here is how.",
    "I'm sorry to hear that. Here is what you can do.",
    "Sorry for the delay. The answer is 5.",
    "You cannot divide by zero.",
    "The door can't be opened from outside.",
    "That is something I can help with.",
    "I cannot stress enough how important sleep is.",
    "I can't wait to see it!",
    "If you cannot log in, reset your password.",
    "He said that he cannot help with that.",
    "It is unsafe to drive fast.",
    "As an AI researcher, she published widely.",
    "I was unable to sleep, wrote Kafka.",
    "The request was accepted.",
    "This question is about history: the answer is 1066.",
    "Step one: we cannot use this theorem yet, so prove a lemma.",
    "qwe zxc lamp lamp",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_an_answer_that_declines_is_a_refusal(text: str) -> None:
    assert RefusalPhrases.refuses(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_that_only_uses_such_words_is_none(text: str) -> None:
    assert not RefusalPhrases.refuses(text)


@pytest.mark.parametrize("text", REFUSALS)
def test_case_spaces_and_curly_apostrophes_change_nothing(text: str) -> None:
    assert RefusalPhrases.refuses("  " + text.upper().replace("'", "\u2019").replace(" ", "\n "))


@pytest.mark.parametrize("text", ["", " ", "\ud800", "x" * 10 * CHARACTERS])
def test_what_says_nothing_declines_nothing(text: str) -> None:
    assert not RefusalPhrases.refuses(text)


def test_a_refusal_far_down_is_no_refusal() -> None:
    assert not RefusalPhrases.refuses("One. Two. Three. Four. I can't help with that.")


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    assert RefusalPhrases.refuses(text) in (True, False)


def test_its_digest_is_that_of_the_list_and_of_what_looks_for_its_phrases() -> None:
    phrases, code = RefusalPhrases.files()
    assert (phrases.suffix, code.suffix) == (".txt", ".py")
    assert RefusalPhrases.digest() == "sha256:" + hashlib.sha256(phrases.read_bytes() + code.read_bytes()).hexdigest()
    assert SCORERS.get("refusal-phrases") is RefusalPhrases
    assert RefusalPhrases.missing() is None
