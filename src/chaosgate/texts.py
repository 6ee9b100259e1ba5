"""Texts cut into words and marks in one way for everything that compares answers, whatever language they are in.

Two texts that a reader cannot tell apart are one: characters are composed first (NFC), and white space only separates.
Where a script puts no spaces between words, each of its letters stands for itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, normalize

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana and Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
)
"""Ranges of scripts that put no spaces between words."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_MARK, _LETTER, _WORD, _SPACE, _WITHIN = range(5)
"""A mark; a letter of a script without spaces; part of a word; space; what belongs to whatever is before it."""
_CLASSES = {"L": _WORD, "N": _WORD, "Z": _SPACE}
_JOINERS = "\u200c\u200d"
"""Zero-width characters that stand within words, as in Persian."""
_APOSTROPHES = "'\u2019"
_CACHED = 1024


def is_unspaced(text: str) -> bool:
    """Whether any of `text` is in a script that puts no spaces between words."""
    return _UNSPACED.search(text) is not None


@lru_cache(maxsize=_CACHED)
def tokens(text: str) -> tuple[str, ...]:
    """The words of `text` and each mark by itself, in order, as they are written; white space is left out."""
    return tuple(token for token, _ in _cut(normalize("NFC", text)))


@lru_cache(maxsize=_CACHED)
def words(text: str) -> tuple[str, ...]:
    """The words of `text` in order, without marks; large and small letters and wide and narrow ones are the same."""
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return tuple(token for token, is_word in _cut(folded) if is_word)


@lru_cache(maxsize=4 * _CACHED)
def names(text: str, name: str) -> bool:
    """Whether `text` holds all words of `name` in a row; no text names what has no word."""
    wanted, found = words(name), words(text)
    starts = range(len(found) - len(wanted) + 1)
    return bool(wanted) and any(found[start : start + len(wanted)] == wanted for start in starts)


def _cut(text: str) -> list[tuple[str, bool]]:
    """Each token with whether it is a word."""
    cut: list[tuple[str, bool]] = []
    before = _SPACE
    for index, char in enumerate(text):
        now = _class_of(char, before, text[index + 1 : index + 2])
        if now == _WITHIN or now == before == _WORD:
            cut[-1] = (cut[-1][0] + char, True)
            continue
        if now != _SPACE:
            cut.append((char, now != _MARK))
        before = now
    return cut


def _class_of(char: str, before: int, after: str) -> int:
    """What `char` is, between a character of class `before` and the character `after`."""
    if char.isascii() and char.isalnum():
        return _WORD
    if char.isspace():
        return _SPACE
    kind = category(char)[0]
    if kind == "M":
        # A combining mark belongs to what it follows.
        return _WITHIN if before in (_WORD, _LETTER) else _MARK
    if before == _WORD and (char in _JOINERS or (char in _APOSTROPHES and after.isalpha())):
        return _WITHIN
    if _UNSPACED.match(char):
        return _LETTER
    return _CLASSES.get(kind, _MARK)
