"""Texts as scorers take them: what models say, but for what no library reads."""

from __future__ import annotations

import unicodedata

REMEMBERED = 1 << 14
"""Texts whose score a scorer remembers: an estimate asks for the same one again and again."""
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'"})


def readable(text: str) -> str:
    """`text` with a question mark for each lone surrogate, which has no UTF-8."""
    return text.encode("utf-8", "replace").decode()


def folded(text: str) -> str:
    """`text` as phrases are looked for: NFKC, one case, straight apostrophes, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES).split())
