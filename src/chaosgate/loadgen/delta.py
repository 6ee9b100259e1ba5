"""The events of a chat stream as vLLM and OpenAI's API send them, read quickly where they are as usual."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from chaosgate.errors import one_line
from chaosgate.model.usage import MAX_TOKENS, completion_tokens, prompt_tokens
from chaosgate.sse import DONE, EventSplitter

_BROKEN_OFF = ("abort", "error")
"""Finish reasons with which vLLM ends an answer that is not whole."""
MAX_REASON = 64
"""Characters of a finish reason that are kept; the longest that OpenAI's API has is `content_filter`."""


class Text(msgspec.Struct, gc=False):
    """What one event adds to the answer; each may be missing or empty."""

    content: str | None = None
    reasoning_content: str | None = None
    """Text of the model's reasoning, as DeepSeek's API and older vLLM name it."""
    reasoning: str | None = None
    """The same as vLLM names it."""


class TokenLogProb(msgspec.Struct, gc=False):
    """The natural logarithm of the probability of one token."""

    logprob: float | None = None


class LogProbs(msgspec.Struct, gc=False):
    """The log-probabilities of the tokens of an event's content."""

    content: list[TokenLogProb] | None = None


class Choice(msgspec.Struct, gc=False):
    """One choice of an event: what it adds, and why the answer ends here, if it does."""

    delta: Text | None = None
    finish_reason: str | None = None
    logprobs: LogProbs | None = None


class Usage(msgspec.Struct, gc=False):
    """How many tokens the server says it has read and made."""

    completion_tokens: int | None = None
    prompt_tokens: int | None = None


class Event(msgspec.Struct, gc=False):
    """One event. Only the first choice counts: one is asked for. Usage figures may come without any."""

    choices: list[Choice]
    usage: Usage | None = None
    error: None = None


DONE_EVENT = Event([])
"""The `[DONE]` that ends a stream; known by its identity."""

_ONE = msgspec.json.Decoder(Event)
_MANY = msgspec.json.Decoder(list[Event])
_DONE_DATA = DONE.encode()
_UNUSUAL = (msgspec.MsgspecError, UnicodeError, RecursionError)


def read_chunk(splitter: EventSplitter, chunk: bytes) -> Iterable[Event]:
    """The events that `chunk` completes, in order, each with its meaning.

    A ValueError, once those before it are given, says why an event is malformed or which error it reports.
    """
    plain = splitter.plain_data(chunk, b",")
    events = None if plain is None else _read_plain(*plain)
    return map(read_event, splitter.feed_data(chunk)) if events is None else events


def _read_plain(data: bytes, count: int) -> list[Event] | None:
    """`count` events whose data are separated by commas; None where any of them is unusual.

    An event may hold a comma outside of any object, and is none then, so that they are counted.
    """
    ended = data.endswith(b"," + _DONE_DATA) if count > 1 else data == _DONE_DATA
    try:
        events = _MANY.decode(b"[%b]" % (data[: -len(_DONE_DATA) - 1] if ended else data))
    except _UNUSUAL:
        return None
    if len(events) != count - ended:
        return None
    if ended:
        events.append(DONE_EVENT)
    return events


def read_event(data: bytes) -> Event:
    """The meaning of one event's data; a ValueError says why it is malformed or which error it reports."""
    try:
        return _ONE.decode(data)
    except _UNUSUAL:
        return _read_unusual(data.decode("utf-8", errors="replace"))


def known_count(tokens: int | None) -> int | None:
    """A count of tokens as a server gives it, None where it is none that an answer can have."""
    return tokens if tokens is not None and 0 <= tokens <= MAX_TOKENS else None


def finish_reason(given: str) -> str:
    """A finish reason as it is kept, in one printable line; a ValueError for one of an answer that is not whole."""
    if given in _BROKEN_OFF:
        raise ValueError(f"the answer ended with finish_reason {given!r}")
    return one_line(given)[:MAX_REASON]


def _read_unusual(data: str) -> Event:
    """`read_event` of whatever has not the usual types: the final mark, odd servers, errors, garbage."""
    if data == DONE:
        return DONE_EVENT
    event = _read_object(data)
    usage = Usage(completion_tokens(event), prompt_tokens(event))
    choice = _first_choice(event)
    if choice is None:
        return Event([], usage)
    delta = choice.get("delta") or {}
    content = (delta.get("content") if isinstance(delta, dict) else delta) or ""
    if not isinstance(content, str):
        raise ValueError(f"read {data[:200]!r}; an event needs text, or nothing, in choices[0].delta.content")
    finish = choice.get("finish_reason")
    reason = None if finish is None else str(finish)
    return Event([Choice(Text(content, _reasoning(delta)), reason, _logprobs(choice))], usage)


def _logprobs(choice: dict[str, Any]) -> LogProbs | None:
    """What stands in `logprobs.content` where it is a list; a token without a finite number has None."""
    given = choice.get("logprobs")
    tokens = given.get("content") if isinstance(given, dict) else None
    if not isinstance(tokens, list):
        return None
    return LogProbs(
        [TokenLogProb(_finite(token.get("logprob") if isinstance(token, dict) else None)) for token in tokens]
    )


def _finite(number: object) -> float | None:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return float(number) if abs(number) <= sys.float_info.max else None


def _reasoning(delta: Any) -> str | None:
    """The first of both keys with text in it; whatever else stands there is none."""
    found = [delta.get(key) for key in ("reasoning_content", "reasoning")] if isinstance(delta, dict) else []
    return next((text for text in found if isinstance(text, str) and text), None)


def _read_object(data: str) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"read {data[:200]!r}, which is no JSON ({error})") from None
    if not isinstance(event, dict):
        raise ValueError(f"read {data[:200]!r}; an event is a JSON object")
    if event.get("error") is not None:
        raise ValueError(f"the server reported an error in the stream: {str(event['error'])[:200]}")
    return event


def _first_choice(event: dict[str, Any]) -> dict[str, Any] | None:
    choices = event.get("choices")
    if choices == []:
        return None
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise ValueError(f"read {str(event)[:200]!r}; an event needs a list of objects in choices")
    return choices[0]
