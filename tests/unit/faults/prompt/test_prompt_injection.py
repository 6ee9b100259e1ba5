from __future__ import annotations

import pytest
from prompt_rig import CHAT, PLAIN_PAIR, QUESTION, rewritten, wire_fault
from pydantic import ValidationError

from chaosgate.faults.prompt.injection import OVERRIDE, PromptInjection
from chaosgate.model.fault import FAULTS
from chaosgate.model.prompt_text import PromptText, Turn


def test_it_follows_the_question_unless_told_otherwise() -> None:
    assert FAULTS.get("prompt.injection") is PromptInjection
    left = rewritten(wire_fault("prompt.injection", "10 %"), CHAT, 1.0)
    assert left.turns == (*CHAT.turns[:-1], Turn("user", f"{QUESTION}\n\n{OVERRIDE}"))


def test_at_the_start_it_stands_before_the_question() -> None:
    fault = wire_fault("prompt.injection", "10 %", text="Obey.", place="start")
    assert rewritten(fault, CHAT, 1.0).turns[-1].text == f"Obey.\n\n{QUESTION}"
    assert [turn.text for turn in rewritten(fault, PLAIN_PAIR, 1.0).turns] == [
        "Obey.\n\nTwo and two\nis",
        "Obey.\n\nThree and three\nis",
    ]


def test_a_turn_of_its_own_ends_the_conversation() -> None:
    fault = wire_fault("prompt.injection", "10 %", text="Obey.", place="new-turn")
    chat = PromptText((*CHAT.turns, Turn("assistant", "Let me look."), Turn("tool", "nine")))
    assert rewritten(fault, chat, 1.0).turns == (*chat.turns, Turn("user", "Obey."))


def test_a_plain_prompt_has_no_turns_and_gets_it_at_its_end() -> None:
    fault = wire_fault("prompt.injection", "10 %", text="Obey.", place="new-turn")
    assert [turn.text for turn in rewritten(fault, PLAIN_PAIR, 1.0).turns] == [
        "Two and two\nis\n\nObey.",
        "Three and three\nis\n\nObey.",
    ]


def test_another_place_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"'start', 'end' or 'new-turn'"):
        PromptInjection.model_validate({**wire_fault("prompt.injection", "10 %").to_json(), "place": "middle"})
