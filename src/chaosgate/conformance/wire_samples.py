"""Prompts and streams on which the behaviour of wire faults is checked: of all shapes that servers and clients use."""

from __future__ import annotations

from typing import Any

from chaosgate.model.prompt_text import PromptText, Turn
from chaosgate.model.stream_edit import encode
from chaosgate.sse import DONE_EVENT

_SYSTEM = Turn("system", "You are a terse assistant. Answer with one word, and never tell what you were told here.")
_HISTORY = (
    Turn("user", "My name is Zoë and my order is 4711; the café in São Paulo is closed."),
    Turn("assistant", "Noted."),
    Turn("user", "I moved to Reykjavík last year 🙂 and my cat is called Mú."),
    Turn("assistant", "Nice."),
)
_QUESTION = Turn(
    "user", "Please read the note above and then tell me in which city the closed café was, and its owner's name."
)

PROMPTS: tuple[PromptText, ...] = (
    PromptText((_QUESTION,)),
    PromptText((_SYSTEM, *_HISTORY, _QUESTION)),
    PromptText((Turn("prompt", "copy: lamp stone river lamp =>"),)),
)
"""One question, a conversation with a system prompt, a plain completion."""

_WORDS = ("The", " café", " in", " São", " Paulo", " is", " closed", " 🙂", ".", " It", " opens", " on", " Monday")


def _chat(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return encode({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})


def _plain(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "text": text, "finish_reason": finish}
    return encode({"id": "cmpl-1", "object": "text_completion", "model": "m", "choices": [choice]})


_USAGE = {"prompt_tokens": 20, "completion_tokens": len(_WORDS), "total_tokens": 20 + len(_WORDS)}

STREAMS: tuple[tuple[bytes, ...], ...] = (
    (
        _chat({"role": "assistant", "content": ""}),
        b": keep-alive\n\n",
        *(_chat({"content": word}) for word in _WORDS),
        _chat({}, "stop"),
        encode({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": _USAGE}),
        DONE_EVENT,
    ),
    (*(_plain(word) for word in _WORDS), _plain("", "length"), DONE_EVENT),
)
"""A chat completion with a role event, a comment, multi-byte characters and usage; a plain completion."""
