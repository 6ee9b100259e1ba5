"""Whether a text still reads like an answer: signs that a person would see at once, and no more than these."""

from __future__ import annotations

import unicodedata
from itertools import groupby

REPLACED = "\N{REPLACEMENT CHARACTER}"
"""What stands where bytes were no text."""
REPEATS = 4
"""A word so many times in a row is no sentence of any language we know of; three ("very, very, very") may be."""
_ALLOWED = "\n\r\t"


def garbled(text: str) -> bool:
    """Whether `text` is empty, holds characters that no writer types, or repeats one word REPEATS times in a row.

    Such characters are U+FFFD, control characters and code points that are not assigned or for private use (Unicode's
    categories Cc, Cn and Co). Fluent nonsense is not seen: this tells broken text from text, not right from wrong.
    """
    if not text.strip() or any(_untyped(character) for character in text):
        return True
    words = text.casefold().split()
    return any(len(list(run)) >= REPEATS for _, run in groupby(words))


def _untyped(character: str) -> bool:
    if character in _ALLOWED:
        return False
    return character == REPLACED or unicodedata.category(character) in ("Cc", "Cn", "Co")
