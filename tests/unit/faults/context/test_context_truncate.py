from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_rig import CHATS, PLAIN_PAIR, SYSTEM, rewritten, wire_fault

from chaosgate.faults.context.truncate import ContextTruncate
from chaosgate.faults.prompt.rewriting import instructs
from chaosgate.model.fault import FAULTS
from chaosgate.model.prompt_text import PromptText, Turn

FAULT = wire_fault("context.truncate", "10 %")
HISTORY = (Turn("user", "a" * 40), Turn("assistant", "b" * 20), Turn("user", "c" * 30), Turn("assistant", "d" * 10))
ASK = Turn("user", "?" * 500)


@pytest.mark.parametrize(
    ("dose", "lost"), [(0.0, 0), (0.39, 0), (0.4, 1), (0.59, 1), (0.6, 2), (0.9, 3), (0.99, 3), (1.0, 4)]
)
def test_the_oldest_turns_go_up_to_the_share_of_the_history(dose: float, lost: int) -> None:
    assert FAULTS.get("context.truncate") is ContextTruncate
    chat = PromptText((SYSTEM, *HISTORY, ASK))
    assert rewritten(FAULT, chat, dose).turns == (SYSTEM, *HISTORY[lost:], ASK)


def test_a_system_turn_in_the_middle_and_what_follows_the_question_stay() -> None:
    after = (Turn("assistant", "Let me look."), Turn("tool", "nine"))
    chat = PromptText((*HISTORY[:2], SYSTEM, *HISTORY[2:], ASK, *after))
    assert rewritten(FAULT, chat, 0.9).turns == (SYSTEM, HISTORY[3], ASK, *after)
    assert rewritten(FAULT, chat, 1.0).turns == (SYSTEM, ASK, *after)


def test_a_result_goes_with_the_call_that_it_answers() -> None:
    call = Turn("assistant", "", {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]})
    results = (Turn("tool", "r" * 20), Turn("tool", "s" * 20))
    chat = PromptText((Turn("user", "a" * 40), call, *results, Turn("assistant", "b" * 20), ASK))
    lost = {dose: len(chat.turns) - len(rewritten(FAULT, chat, dose).turns) for dose in (0.4, 0.6, 0.79, 0.8, 1.0)}
    assert lost == {0.4: 1, 0.6: 1, 0.79: 1, 0.8: 4, 1.0: 5}


def test_without_a_history_nothing_is_lost() -> None:
    assert rewritten(FAULT, PLAIN_PAIR, 1.0) == PLAIN_PAIR
    for turns in ((ASK,), (SYSTEM, ASK), (SYSTEM,), (Turn("assistant", ""), ASK)):
        assert rewritten(FAULT, PromptText(turns), 1.0).turns == turns


@given(CHATS, st.floats(0, 1), st.floats(0, 1))
def test_turns_lost_at_a_low_dose_are_lost_at_a_higher_one(chat: PromptText, one: float, other: float) -> None:
    mild, strong = (rewritten(FAULT, chat, dose) for dose in sorted((one, other)))
    assert len(strong.turns) <= len(mild.turns)
    assert [turn for turn in chat.turns if instructs(turn)] == [turn for turn in strong.turns if instructs(turn)]
    left = iter(mild.turns)
    assert all(turn in left for turn in strong.turns)
    assert strong.turns[strong.last] == chat.turns[chat.last]
