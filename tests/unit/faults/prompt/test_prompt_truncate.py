from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_rig import CHAT, PLAIN_PAIR, QUESTION, asked, rewritten, wire_fault

from chaosgate.faults.prompt.truncate import PromptTruncate
from chaosgate.model.fault import FAULTS

FAULT = wire_fault("prompt.truncate", "10 %")


def test_the_end_of_the_last_user_turn_is_cut_off() -> None:
    assert FAULTS.get("prompt.truncate") is PromptTruncate
    left = rewritten(FAULT, CHAT, 0.5)
    assert left.turns[:-1] == CHAT.turns[:-1]
    assert left.turns[-1].text == QUESTION[: len(QUESTION) - round(len(QUESTION) / 2)]


def test_every_prompt_of_a_completion_is_cut() -> None:
    assert [turn.text for turn in rewritten(FAULT, PLAIN_PAIR, 0.5).turns] == ["Two and", "Three and"]


@pytest.mark.parametrize(("dose", "left"), [(0.0, 10), (0.04, 10), (0.1, 9), (0.25, 8), (0.5, 5), (0.99, 1), (1.0, 1)])
def test_its_dose_is_the_share_of_characters_that_go(dose: float, left: int) -> None:
    assert asked(FAULT, "abcdefghij", dose) == "abcdefghij"[:left]


@pytest.mark.parametrize(
    "whole", ["e\u0301\u0323", "\u2764\ufe0f", "\U0001f44d\U0001f3fd", "\U0001f469\u200d\U0001f680", "क्षि"]
)
def test_what_belongs_together_stays_or_goes_together(whole: str) -> None:
    text = f"a{whole}b{whole}"
    cuts = {asked(FAULT, text, step / 100) for step in range(101)}
    allowed = {"a", f"a{whole}", f"a{whole}b", text}
    if whole == "क्षि":
        # Its second consonant is a character of its own.
        allowed |= {"aक्", f"a{whole}bक्"}
    assert cuts == allowed


def test_a_question_of_one_character_with_its_marks_stays() -> None:
    assert asked(FAULT, "e\u0301", 1.0) == "e\u0301"
    assert asked(FAULT, "", 1.0) == ""


@given(st.text(max_size=60), st.floats(0, 1), st.floats(0, 1))
def test_what_is_cut_at_a_low_dose_is_cut_at_a_higher_one(text: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert text.startswith(asked(FAULT, text, low))
    assert asked(FAULT, text, low).startswith(asked(FAULT, text, high))
