"""Text to token ids and back."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

from chaosgate.engine.network import vocabulary

_IDS = {
    token: index
    for index, token in enumerate(vocabulary.TOKENS)
    if index < vocabulary.BYTES or index >= vocabulary.FIRST_TEXT
}
_LONGEST = max(map(len, _IDS))


def encode(text: str | bytes) -> list[int]:
    """Token ids of `text` by greedy longest match, without `<bos>`.

    Any byte string encodes, for every single byte is a token; `decode_bytes` gives the same bytes back. A lone
    surrogate in a `str` has no UTF-8 form and becomes `?`.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    tokens = []
    start = 0
    while start < len(data):
        token, start = _longest_match(data, start)
        tokens.append(token)
    return tokens


def _longest_match(data: bytes, start: int) -> tuple[int, int]:
    for end in range(min(start + _LONGEST, len(data)), start + 1, -1):
        token = _IDS.get(data[start:end])
        if token is not None:
            return token, end
    return data[start], start + 1


def token_bytes(token: int) -> bytes:
    """The bytes that `token` stands for; none for a special token or an id outside the vocabulary."""
    if 0 <= token < vocabulary.BYTES or vocabulary.FIRST_TEXT <= token < len(vocabulary.TOKENS):
        return vocabulary.TOKENS[token]
    return b""


def decode_bytes(tokens: Iterable[int]) -> bytes:
    """The bytes of all `tokens` in a row."""
    return b"".join(map(token_bytes, tokens))


def decode(tokens: Iterable[int]) -> str:
    """The text of `tokens`; bytes that are no UTF-8 become U+FFFD, so this never raises."""
    return decode_bytes(tokens).decode("utf-8", "replace")


class Detokenizer:
    """Text of a growing token sequence, piece by piece.

    A character whose UTF-8 bytes are spread over tokens comes out with its last byte. The pieces together equal
    `decode` of all tokens.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """The text that `token` completes, maybe empty."""
        return self._decoder.decode(token_bytes(token))

    def flush(self) -> str:
        """U+FFFD for a character that was begun and will not be finished, else nothing."""
        return self._decoder.decode(b"", final=True)
