from __future__ import annotations

from prompt_rig import CHAT, PLAIN_PAIR, SYSTEM, rewritten, wire_fault

from chaosgate.faults.session.interrupt import SessionInterrupt
from chaosgate.model.fault import FAULTS
from chaosgate.model.prompt_text import PromptText, Turn

FAULT = wire_fault("session.interrupt", "10 %")


def test_only_the_system_prompt_and_the_last_user_turn_are_left() -> None:
    assert FAULTS.get("session.interrupt") is SessionInterrupt
    assert rewritten(FAULT, CHAT, 1.0).turns == (SYSTEM, CHAT.turns[-1])


def test_calls_of_tools_since_the_question_are_gone_and_every_system_turn_stays() -> None:
    late = Turn("developer", "Be brief.")
    chat = PromptText((*CHAT.turns[:2], late, *CHAT.turns[2:], Turn("assistant", ""), Turn("tool", "nine")))
    assert rewritten(FAULT, chat, 1.0).turns == (SYSTEM, late, CHAT.turns[-1])


def test_without_a_session_nothing_is_lost() -> None:
    assert rewritten(FAULT, PLAIN_PAIR, 1.0) == PLAIN_PAIR
    for turns in ((SYSTEM, CHAT.turns[-1]), (CHAT.turns[-1],), (SYSTEM,)):
        assert rewritten(FAULT, PromptText(turns), 1.0).turns == turns
