"""Taking out of a text what nobody sees in it, and leaving what writing systems and emoji need."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MOST_MARKS = 4
"""Combining marks in a row that a text may have: UTS #39, 5.4 forbids more than four."""

_JOINERS = "\u200b-\u200d\u2060"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS = "\U000e0000-\U000e007f"
_INVISIBLE = f"{_JOINERS}{_SELECTORS}{_TAGS}\u2061-\u2064\u202d\u202e\ufeff"
_MEANT = (
    # A flag of a subdivision: the black flag, letters as tags, the cancel tag (UTS #51, ED-14a).
    "\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f",
    # A keycap (UTS #51, ED-20).
    "[#*0-9]\ufe0f\u20e3",
    # A character with one variation selector and one joiner, as emoji, Persian, Khmer and the scripts of India have.
    f"[^\\x00-\\x7f{_INVISIBLE}][{_SELECTORS}]?[{_JOINERS}]?",
)
_SEEN = re.compile(f"({'|'.join(_MEANT)})|[{_INVISIBLE}]")


def without_invisible(text: str) -> str:
    """`text` without characters that show nothing and join nothing; ordinary text in any script is left as it is.

    Those are joiners and variation selectors after ASCII letters or in a row, tags, and the overrides of the writing
    direction by which text reads otherwise than it stands (Boucher & Anderson, Trojan Source, 2023).
    """
    return text if text.isascii() else _SEEN.sub(lambda found: found[1] or "", text)


def without_flood(text: str, most: int = MOST_MARKS) -> str:
    """`text` with no more than `most` combining marks in a row, so that normalising it takes time linear in its length.

    Marks are characters of general category Mn or Me, and those whose compatibility form begins with a character that
    normalising puts in order: such as the tone marks of Hangul, or half-width Katakana's (UAX #15, 13).
    """
    if text.isascii():
        return text
    kept, marks = [], 0
    for character in text:
        marks = marks + 1 if _is_mark(character) else 0
        if marks <= most:
            kept.append(character)
    return "".join(kept)


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(character) in ("Mn", "Me") or unicodedata.combining(first) > 0
