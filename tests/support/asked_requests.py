"""Requests as filters see them."""

from __future__ import annotations

from typing import Any

from chaosgate.model.filter import Asked, Finding
from chaosgate.model.prompt_text import PromptText, Turn
from chaosgate.model.request_facts import RequestFacts


def asked(*turns: tuple[str, str], found: tuple[Finding, ...] = (), **body: Any) -> Asked:
    """A request with these turns, each a role and a text, and further keys of its body."""
    facts = RequestFacts("/v1/chat/completions", {}, body)
    return Asked(facts, PromptText(tuple(Turn(role, text, {}) for role, text in turns)), 2, found)


def user(text: str, **fields: Any) -> Asked:
    """A request with one turn of the user."""
    return asked(("user", text), **fields)
