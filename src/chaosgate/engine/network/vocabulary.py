"""The 512 tokens of the embedded model, as data."""

from __future__ import annotations

from typing import Final

from chaosgate.prompts.words import ENDS, STARTS, WORDS

BYTES: Final = 256
"""Tokens 0..255 are the bytes themselves: whatever no word covers is spelled byte by byte."""

PAD: Final = 256
BOS: Final = 257
EOS: Final = 258
UNK: Final = 259
SPECIALS: Final = ("<pad>", "<bos>", "<eos>", "<unk>")
"""Markers without text of their own. The strings name them in listings; the tokenizer never reads them in a prompt."""

ASSIGNED_WORDS: Final = tuple(f"{word}=" for word in WORDS)
"""Every word with `=` glued on.

A fact reads `red=lamp`. With `=` in the key's token the value directly follows a token that is equal to the query's
last one, which a single attention head can look up; as a token of its own it takes two heads that small models do not
learn.
"""

JOINS: Final = (" the ", " and ", " of ", " to ", " in ", " is ", " a ", ". ")
"""What stands between words in running text."""

OPENINGS: Final = ("facts ", "json ", "copy ", "capital ", "add ")
"""What a prompt of each task opens with."""

JSON_PIECES: Final = ('{"', '":"', '","', '"}')
"""The joints of a flat JSON object of strings."""

TOKENS: Final = (
    *(bytes([value]) for value in range(BYTES)),
    *(name.encode() for name in SPECIALS),
    *(text.encode() for text in (*WORDS, *ASSIGNED_WORDS, *JOINS, *OPENINGS, *JSON_PIECES, *STARTS, *ENDS)),
)
"""Token id -> bytes. 512 entries."""

FIRST_TEXT: Final = BYTES + len(SPECIALS)
"""Lowest id of a token of several characters."""

PROSE: Final = tuple(token for token in range(FIRST_TEXT, len(TOKENS)) if TOKENS[token].decode() in {*WORDS, *JOINS})
"""Ids of the words and joins: what readable output is made of."""
