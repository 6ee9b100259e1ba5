from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.faults.stream.finish import finish_reasons, with_finish
from chaosgate.model.stream_edit import StreamEvent, encode


def event(*choices: Any, **fields: Any) -> StreamEvent:
    return StreamEvent(encode({"id": "c", "choices": list(choices), **fields}), 0)


def chunk_of(raw: bytes) -> Any:
    return json.loads(raw.removeprefix(b"data: "))


def test_the_reasons_are_those_of_choices_that_end() -> None:
    ended, goes_on = {"index": 0, "finish_reason": "stop"}, {"index": 1, "finish_reason": None}
    assert finish_reasons(event(ended, goes_on, {"index": 2}, 7)) == ["stop"]


def test_another_reason_takes_their_place_and_all_else_stays() -> None:
    ended = {"index": 0, "delta": {"content": "é"}, "finish_reason": "stop"}
    goes_on = {"index": 1, "delta": {}, "finish_reason": None}
    changed = with_finish(event(ended, goes_on, 7, usage={"completion_tokens": 3}), "length")
    assert chunk_of(changed) == {
        "id": "c",
        "choices": [{**ended, "finish_reason": "length"}, goes_on, 7],
        "usage": {"completion_tokens": 3},
    }
    assert finish_reasons(StreamEvent(with_finish(event(ended), None), 0)) == []


@pytest.mark.parametrize(
    "raw",
    [
        b": keep-alive\n\n",
        b"data: [DONE]\n\n",
        b"data: [7]\n\n",
        b"data: {}\n\n",
        b'data: {"choices": {"finish_reason": "stop"}}\n\n',
        b'data: {"choices": [{"finish_reason": 7}, {"finish_reason": null}]}\r\n\r\n',
    ],
)
def test_an_event_without_a_reason_keeps_its_bytes(raw: bytes) -> None:
    assert finish_reasons(StreamEvent(raw, 0)) == []
    assert with_finish(StreamEvent(raw, 0), "length") == raw


CHOICE = st.fixed_dictionaries({}, optional={"finish_reason": st.none() | st.integers() | st.text(), "text": st.text()})


@given(st.none() | st.text() | CHOICE | st.lists(st.none() | st.text() | CHOICE))
def test_whatever_the_choices_are_as_many_end_as_before(choices: Any) -> None:
    before = StreamEvent(encode({"choices": choices}), 0)
    after = StreamEvent(with_finish(before, "length"), 0)
    assert finish_reasons(after) == ["length"] * len(finish_reasons(before))


def test_fields_numbers_and_doubles_of_an_event_stay_as_they_are_written() -> None:
    choice = b'{"finish_reason":"stop","p":[1e400,0.12345678901234567890]}'
    raw = b'id: 7\nretry: 10\ndata: {"choices": [' + choice + b'], "a":1,"a":2}\n\n'
    assert with_finish(StreamEvent(raw, 0), "length") == raw.replace(b"stop", b"length")
