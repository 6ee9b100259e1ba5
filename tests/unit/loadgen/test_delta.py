"""The quick reading of events gives what the careful one gives, whatever a server sends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosgate.loadgen.delta import DONE_EVENT, Choice, Event, _read_unusual, known_count, read_chunk, read_event
from chaosgate.sse import EventSplitter

texts = st.text(max_size=8) | st.sampled_from(["", "blue", "\u2028", "a\x00b"])
odd = st.none() | st.booleans() | st.integers(-2, 2**70) | st.floats() | texts | st.lists(st.integers(), max_size=2)
deltas = st.fixed_dictionaries({}, optional=dict.fromkeys(("content", "reasoning_content", "reasoning"), texts | odd))
told = st.lists(st.fixed_dictionaries({}, optional={"token": texts, "logprob": odd}) | odd, max_size=3)
choices = st.fixed_dictionaries(
    {},
    optional={
        "delta": deltas | odd,
        "finish_reason": odd | st.sampled_from(["stop", "abort"]),
        "index": odd,
        "logprobs": st.fixed_dictionaries({}, optional={"content": told | odd}) | odd,
    },
)
usages = st.fixed_dictionaries({}, optional=dict.fromkeys(("completion_tokens", "prompt_tokens"), odd))
listed = st.lists(choices | odd, max_size=2) | odd
objects = st.fixed_dictionaries({}, optional={"choices": listed, "usage": usages | odd, "error": odd, "id": odd})
garbage = st.binary(max_size=20) | st.sampled_from(
    [
        b"[DONE]",
        b'{"choices": []},{"choices": []}',
        b'{"choices": []}\xff',
        b'{"choices":[{"delta":{"content":"\xff"}}]}',
    ]
)
datas = objects.map(lambda event: json.dumps(event).encode()) | garbage


def meaning(event: Event) -> tuple[Any, ...]:
    """What a trace reads of an event."""
    usage = event.usage
    counts = (None, None) if usage is None else (usage.completion_tokens, usage.prompt_tokens)
    said = (event is DONE_EVENT, len(event.choices[:1]), *map(known_count, counts))
    if not event.choices:
        return said
    choice = event.choices[0]
    text = choice.delta
    said = (*said, choice.finish_reason, str(probabilities(choice)))
    if text is None:
        return (*said, "", "")
    return (*said, text.content or "", text.reasoning_content or text.reasoning or "")


def probabilities(choice: Choice) -> list[float | None]:
    """The log-probabilities as numbers; a whole one may be read as an integer."""
    listed = choice.logprobs.content or [] if choice.logprobs else []
    return [None if one.logprob is None else float(one.logprob) for one in listed]


def outcome(read: Callable[[], Event]) -> Any:
    try:
        return meaning(read())
    except ValueError as error:
        return str(error)


def careful(data: bytes) -> Any:
    return outcome(lambda: _read_unusual(data.decode("utf-8", errors="replace")))


@settings(max_examples=300)
@given(datas)
def test_both_readings_agree(data: bytes) -> None:
    assert outcome(lambda: read_event(data)) == careful(data)


def in_one_chunk(*pieces: bytes) -> Iterable[Event]:
    """What is read of events of one line of data each that come in one chunk, as a server writes them."""
    return read_chunk(EventSplitter(), b"".join(b"data: %b\n\n" % data for data in pieces))


@settings(max_examples=200)
@given(st.lists(datas.filter(lambda data: not set(data) & set(b"\r\n")), max_size=4))
def test_events_of_one_piece_are_read_as_each_by_itself(pieces: list[bytes]) -> None:
    """Up to the first that is malformed, which is where a trace ends."""
    found: list[Any] = []
    try:
        found += map(meaning, in_one_chunk(*pieces))
    except ValueError as error:
        found.append(str(error))
    expected: list[Any] = []
    for data in pieces:
        expected.append(careful(data))
        if isinstance(expected[-1], str):
            break
    assert found[-1:] == expected[-1:]
    assert len(found) in (1, len(expected))


@pytest.mark.parametrize(
    "odd_one", [b'{"choices": 7}', b"", b"1", b"1[DONE]", b",[DONE]", b'{"choices": []},{"choices": []}']
)
def test_what_comes_before_a_malformed_event_is_read(odd_one: bytes) -> None:
    events = iter(in_one_chunk(b'{"choices": [{"delta": {"content": "blue"}}]}', odd_one))
    assert meaning(next(events))[-2] == "blue"
    with pytest.raises(ValueError, match=r"^read "):
        next(events)


@pytest.mark.parametrize(
    ("delta", "reasoning"),
    [
        ({"reasoning_content": "a"}, "a"),
        ({"reasoning": "a"}, "a"),
        ({"reasoning_content": "", "reasoning": "a"}, "a"),
        ({"reasoning": 7}, ""),
        ({"content": "b"}, ""),
    ],
)
def test_reasoning_has_two_names(delta: dict[str, Any], reasoning: str) -> None:
    assert meaning(read_event(json.dumps({"choices": [{"delta": delta}]}).encode()))[-1] == reasoning
