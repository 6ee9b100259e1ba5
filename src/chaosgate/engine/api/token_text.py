"""Single tokens as an answer shows them: their text, their bytes, their log-probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chaosgate.engine.network.tokenizer import token_bytes
from chaosgate.engine.network.vocabulary import BYTES, SPECIALS
from chaosgate.engine.runtime.sequence import Delta

LOWEST = -9999.0
"""Stands for the logarithm of 0, which JSON has no number for; OpenAI and vLLM send the same."""

Body = dict[str, Any]


def token_text(token: int) -> str:
    """The token as text; `bytes:\\xe2` for one that is no UTF-8 by itself, `<eos>` and its like by name.

    So each token of the vocabulary has a text of its own.
    """
    if BYTES <= token < BYTES + len(SPECIALS):
        return SPECIALS[token - BYTES]
    raw = token_bytes(token)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in raw)


def chat_logprobs(deltas: Sequence[Delta]) -> Body:
    """`logprobs` of a chat's choice: every generated token with the best ones at its place."""
    return {"content": [_chat_token(delta) for delta in deltas], "refusal": None}


def _chat_token(delta: Delta) -> Body:
    top = [_entry(token, logprob) for token, logprob in delta.top]
    return {**_entry(delta.token, delta.logprob), "top_logprobs": top}


def _entry(token: int, logprob: float | None) -> Body:
    return {"token": token_text(token), "logprob": _finite(logprob), "bytes": list(token_bytes(token))}


def completion_logprobs(deltas: Sequence[Delta], offset: int) -> Body:
    """`logprobs` of a completion's choice; `offset` is where in the choice's text the first of the deltas begins.

    At each place the drawn token is among the best ones, so there may be one more of them than was asked for. A token
    whose text is held back for a stop string, or completes no character, begins where the next text will.
    """
    return {
        "tokens": [token_text(delta.token) for delta in deltas],
        "token_logprobs": [_finite(delta.logprob) for delta in deltas],
        "top_logprobs": [_best(delta) for delta in deltas],
        "text_offset": list(_offsets(deltas, offset)),
    }


def _best(delta: Delta) -> dict[str, float]:
    return {token_text(token): _finite(logprob) for token, logprob in (*delta.top, (delta.token, delta.logprob))}


def _offsets(deltas: Sequence[Delta], offset: int) -> Iterator[int]:
    for delta in deltas:
        yield offset
        offset += len(delta.text)


def _finite(logprob: float | None) -> float:
    return LOWEST if logprob is None else max(logprob, LOWEST)
