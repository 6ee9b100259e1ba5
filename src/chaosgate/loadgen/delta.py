"""The meaning of one event of a chat stream, as vLLM and OpenAI's API send it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from chaosgate.errors import one_line
from chaosgate.model.usage import MAX_TOKENS, completion_tokens, prompt_tokens
from chaosgate.sse import DONE

_BROKEN_OFF = ("abort", "error")
"""Finish reasons with which vLLM ends an answer that is not whole."""
MAX_REASON = 64
"""Characters of a finish reason that are kept; the longest that OpenAI's API has is `content_filter`."""


class Delta(msgspec.Struct, frozen=True, gc=False):
    """What one event of a chat stream adds: text, maybe none, and what it says of the answer as a whole."""

    content: str = ""
    finish: str | None = None
    """Why the answer ends here."""
    claimed: int | None = None
    """How many completion tokens the server says it has sent."""
    done: bool = False
    """Whether it is the final `[DONE]`."""
    reasoning: str = ""
    """Text of the model's reasoning: `reasoning_content` (DeepSeek's API, older vLLM) or `reasoning` (vLLM)."""
    choice: bool = False
    """Whether it has a choice at all; usage figures come without."""
    prompt_tokens: int | None = None
    """How many tokens the server says the prompt has."""

    @property
    def finished(self) -> bool:
        """Whether it says that the answer is whole."""
        return self.done or self.finish is not None


class _Text(msgspec.Struct, gc=False):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(msgspec.Struct, gc=False):
    delta: _Text | None = None
    finish_reason: str | None = None


class _Usage(msgspec.Struct, gc=False):
    completion_tokens: int | None = None
    prompt_tokens: int | None = None


class _Event(msgspec.Struct, gc=False):
    choices: list[_Choice]
    usage: _Usage | None = None
    error: None = None


_USUAL = msgspec.json.Decoder(_Event)
_DONE = Delta(done=True)
_NO_TEXT = _Text()


def read_delta(data: bytes | str) -> Delta:
    """The meaning of one event's data; a ValueError says why it is malformed or which error it reports.

    An event without choices (usage figures) adds no text. Only the first choice counts: one is asked for.
    """
    try:
        event = _USUAL.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _read_unusual(data if isinstance(data, str) else data.decode("utf-8", errors="replace"))
    usage = event.usage
    claimed = None if usage is None else _count(usage.completion_tokens)
    asked = None if usage is None else _count(usage.prompt_tokens)
    if not event.choices:
        return Delta(claimed=claimed, prompt_tokens=asked)
    choice = event.choices[0]
    text = choice.delta or _NO_TEXT
    reasoning = text.reasoning_content or text.reasoning or ""
    return Delta(text.content or "", _finish(choice.finish_reason), claimed, False, reasoning, True, asked)


def _count(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens <= MAX_TOKENS else None


def _read_unusual(data: str) -> Delta:
    """`read_delta` of whatever has not the usual types: the final mark, odd servers, errors, garbage."""
    if data == DONE:
        return _DONE
    event = _read_event(data)
    choice = _first_choice(event)
    delta = choice.get("delta") or {}
    content = _text(delta, "content") if isinstance(delta, dict) else delta
    if not isinstance(content, str):
        raise ValueError(f"read {data[:200]!r}; an event needs text, or nothing, in choices[0].delta.content")
    return Delta(
        content=content,
        finish=_finish(choice.get("finish_reason")),
        claimed=completion_tokens(event),
        reasoning=_reasoning(delta),
        choice=event["choices"] != [],
        prompt_tokens=prompt_tokens(event),
    )


def _text(delta: dict[str, Any], key: str) -> Any:
    return delta.get(key) or ""


def _reasoning(delta: Any) -> str:
    """The first of both keys with text in it; whatever else stands there is none."""
    found = [delta.get(key) for key in ("reasoning_content", "reasoning")] if isinstance(delta, dict) else []
    return next((text for text in found if isinstance(text, str) and text), "")


def _finish(finish: Any) -> str | None:
    """The finish reason of a choice in one printable line; a ValueError for one of an answer that is not whole."""
    if finish is None:
        return None
    if finish in _BROKEN_OFF:
        raise ValueError(f"the answer ended with finish_reason {finish!r}")
    return one_line(str(finish))[:MAX_REASON]


def _read_event(data: str) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"read {data[:200]!r}, which is no JSON ({error})") from None
    if not isinstance(event, dict):
        raise ValueError(f"read {data[:200]!r}; an event is a JSON object")
    if event.get("error") is not None:
        raise ValueError(f"the server reported an error in the stream: {str(event['error'])[:200]}")
    return event


def _first_choice(event: dict[str, Any]) -> dict[str, Any]:
    choices = event.get("choices")
    if choices == []:
        return {}
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise ValueError(f"read {str(event)[:200]!r}; an event needs a list of objects in choices")
    return choices[0]
