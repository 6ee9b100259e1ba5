from __future__ import annotations

import pytest
from prompt_rig import CHAT, PLAIN_PAIR, rewritten, wire_fault
from pydantic import ValidationError

from chaosgate.faults.prompt.system_rewrite import WEAKENED, SystemRewrite
from chaosgate.model.fault import FAULTS
from chaosgate.model.prompt_text import PromptText, Turn


def test_its_text_takes_the_place_of_the_system_prompt() -> None:
    fault = wire_fault("prompt.system-rewrite", "10 %", text="Rhyme.")
    assert FAULTS.get("prompt.system-rewrite") is SystemRewrite
    assert rewritten(fault, CHAT, 1.0).turns == (Turn("system", "Rhyme."), *CHAT.turns[1:])


def test_of_several_system_prompts_the_first_gets_the_text_and_the_others_go() -> None:
    fault = wire_fault("prompt.system-rewrite", "10 %")
    message = {"role": "developer", "content": "Be kind.", "name": "ops"}
    ask = Turn("user", "Hello?")
    chat = PromptText((Turn("developer", "Be kind.", message), ask, Turn("system", "And brief.")))
    assert rewritten(fault, chat, 1.0).turns == (Turn("developer", WEAKENED, message), ask)


def test_the_last_turn_stays_where_no_user_asks() -> None:
    fault = wire_fault("prompt.system-rewrite", "10 %")
    said, ask = Turn("assistant", ""), Turn("system", "Go on.")
    chat = PromptText((Turn("system", "Be kind."), Turn("developer", "And brief."), said, ask))
    assert rewritten(fault, chat, 1.0).turns == (Turn("system", WEAKENED), said, ask)


def test_where_there_is_none_it_is_put_before() -> None:
    fault = wire_fault("prompt.system-rewrite", "10 %", text="Rhyme.")
    chat = PromptText(CHAT.turns[1:])
    assert rewritten(fault, chat, 1.0).turns == (Turn("system", "Rhyme."), *chat.turns)
    assert [turn.text for turn in rewritten(fault, PLAIN_PAIR, 1.0).turns] == [
        "Rhyme.\n\nTwo and two\nis",
        "Rhyme.\n\nThree and three\nis",
    ]


def test_an_empty_text_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"at least 1 character"):
        SystemRewrite.model_validate(
            {**wire_fault("prompt.system-rewrite", "10 %").to_json(), "text": ""},
        )
