"""Looking for phrases in prompts: where they may stand, and in a form that disguises do not change."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files

from chaosgate.filters.invisible import without_flood, without_invisible
from chaosgate.model.prompt_text import PromptText

_TRUSTED = frozenset(("system", "developer", "assistant"))
"""Roles whose turns the service itself has written; an attack comes in the others."""


def untrusted(prompt: PromptText) -> list[int]:
    """The indices of the turns that somebody else than the service has written."""
    return [index for index, turn in enumerate(prompt.turns) if turn.role not in _TRUSTED]


def folded(text: str) -> str:
    """`text` as it is compared: no invisible characters, no floods of marks, NFKC, one case, single spaces."""
    visible = without_flood(without_invisible(text))
    return " ".join(unicodedata.normalize("NFKC", visible).casefold().split())


@cache
def injections() -> re.Pattern[str]:
    """The known phrases of injected instructions, whatever their case; `data/injection_phrases.txt` has the sources."""
    text = (files("chaosgate.filters") / "data" / "injection_phrases.txt").read_text(encoding="utf-8")
    phrases = [line.replace(" ", r"\s+") for line in text.splitlines() if line and not line.startswith("#")]
    return re.compile("|".join(phrases), re.IGNORECASE)
