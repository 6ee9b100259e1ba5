"""Prompts for tests of the faults that rewrite them: one of each kind, and strategies that draw many."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chaosgate.model.fault import WireFault
from chaosgate.model.prompt_text import PLAIN, PromptText, Turn
from chaosgate.model.standing import standing_fault

SYSTEM = Turn("system", "Answer in one word.")
CHAT = PromptText(
    (
        SYSTEM,
        Turn("user", "My cat is called Mú."),
        Turn("assistant", "Noted."),
        Turn("user", "And she is nine.\nWhat is her name?"),
    )
)
QUESTION = CHAT.turns[-1].text
PLAIN_PAIR = PromptText((Turn(PLAIN, "Two and two\nis"), Turn(PLAIN, "Three and three\nis")))
"""A plain completion of two prompts."""

_TEXTS = st.text(max_size=40)
_ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool"])


def _chat_turn(role: str, text: str) -> Turn:
    return Turn(role, text, {"role": role, "content": text})


def _plain_turn(text: str) -> Turn:
    return Turn(PLAIN, text)


CHATS = st.lists(st.builds(_chat_turn, _ROLES, _TEXTS), min_size=1, max_size=8).map(tuple).map(PromptText)
PLAIN_PROMPTS = st.lists(st.builds(_plain_turn, _TEXTS), min_size=1, max_size=3).map(tuple).map(PromptText)
PROMPTS = CHATS | PLAIN_PROMPTS
"""Prompts of every shape, with empty texts and texts of any Unicode characters."""


def wire_fault(kind: str, dose: str | float, **parameters: Any) -> WireFault:
    """The fault `rig` of `kind`, with a dose as a spec writes it."""
    fault = standing_fault(kind, "rig", dose, parameters)
    assert isinstance(fault, WireFault)
    return fault


def rewritten(fault: WireFault, prompt: PromptText, dose: float, number: int = 1) -> PromptText:
    """What request `number` asks at `dose` in the place of `prompt`."""
    return fault.rewrite(prompt, dose, fault.draw(7, f"7.block1.{number}"))


def asked(fault: WireFault, text: str, dose: float, number: int = 1) -> str:
    """What becomes of a chat whose only turn is `text`."""
    (turn,) = rewritten(fault, PromptText((Turn("user", text),)), dose, number).turns
    return turn.text


def share_hit(fault: WireFault, dose: float, requests: int = 4000) -> float:
    """The share of requests whose `CHAT` is rewritten."""
    return sum(rewritten(fault, CHAT, dose, number) != CHAT for number in range(requests)) / requests
