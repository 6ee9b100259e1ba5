"""The 512 tokens of the embedded model, as data."""

from __future__ import annotations

from typing import Final

BYTES: Final = 256
"""Tokens 0..255 are the bytes themselves: whatever no word covers is spelled byte by byte."""

PAD: Final = 256
BOS: Final = 257
EOS: Final = 258
UNK: Final = 259
SPECIALS: Final = ("<pad>", "<bos>", "<eos>", "<unk>")
"""Markers without text of their own. The strings name them in listings; the tokenizer never reads them in a prompt."""

_LINES: Final = (
    "red blue green black white gold silver pink brown gray",
    "apple lemon grape melon peach berry olive onion plum mango",
    "lion tiger horse sheep mouse eagle shark whale zebra otter",
    "stone river ocean cloud storm beach forest island valley meadow",
    "table chair lamp clock mirror window door floor shelf ladder",
    "north south east west spring summer autumn winter morning night",
    "doctor farmer baker pilot sailor judge king queen poet singer",
    "copper iron steel glass paper cotton leather marble amber pearl",
    "circle square arrow hammer needle button ribbon candle basket bottle",
    "piano guitar violin drum flute train wagon boat rocket wheel",
    "bread butter honey sugar salt pepper garlic cheese coffee tea",
    "coat boot glove scarf hat belt ring crown shield sword",
)

WORDS: Final = tuple(word for line in _LINES for word in line.split())
"""120 plain words, one token each."""

ASSIGNED_WORDS: Final = tuple(f"{word}=" for word in WORDS)
"""The same words with `=` glued on.

A fact reads `red=lamp`. With `=` in the key's token the value directly follows a token that is equal to the query's
last one, which a single attention head can look up; as a token of its own it takes two heads that small models do not
learn.
"""

JOINS: Final = (" the ", " and ", " of ", " to ", " in ", " is ", " a ", ". ")
"""What stands between words in running text."""

JSON_PIECES: Final = ('{"', '":"', '","', '"}')
"""The joints of a flat JSON object of strings."""

TOKENS: Final = (
    *(bytes([value]) for value in range(BYTES)),
    *(name.encode() for name in SPECIALS),
    *(text.encode() for text in (*WORDS, *ASSIGNED_WORDS, *JOINS, *JSON_PIECES)),
)
"""Token id -> bytes. 512 entries."""

FIRST_TEXT: Final = BYTES + len(SPECIALS)
"""Lowest id of a token of several characters."""

PROSE: Final = tuple(token for token in range(FIRST_TEXT, len(TOKENS)) if TOKENS[token].decode() in {*WORDS, *JOINS})
"""Ids of the words and joins: what readable output is made of."""
