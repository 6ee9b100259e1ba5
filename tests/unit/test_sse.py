"""Events are cut at the same bytes however the stream is chunked, and no byte is lost or changed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.sse import DONE, MAX_EVENT, EventSplitter, event_data, with_data

RECORDED_EVENTS = [
    b'\xef\xbb\xbfdata: {"delta":{"role":"assistant","content":""}}\n\n',
    b": keep-alive\n\n",
    b"event: message\r\nid: 7\r\ndata: first\r\ndata:  second\r\n\r\n",
    b"\n",
    b"data\r\r",
    "data: caf\u00e9 \u2615\n\r\n".encode(),
    b"data: [DONE]\n\n",
]
RECORDED_DATA = ['{"delta":{"role":"assistant","content":""}}', None, "first\n second", None, "", "café ☕", DONE]
RECORDED = b"".join(RECORDED_EVENTS)


def cut(chunks: list[bytes]) -> tuple[list[bytes], bytes]:
    splitter = EventSplitter()
    events = [event for chunk in chunks for event in splitter.feed(chunk)]
    events += splitter.close()
    return events, splitter.rest


def test_one_chunk_gives_the_events_as_they_were_sent() -> None:
    assert cut([RECORDED]) == (RECORDED_EVENTS, b"")
    assert [event_data(event) for event in RECORDED_EVENTS] == RECORDED_DATA


@pytest.mark.parametrize("at", range(len(RECORDED) + 1))
def test_any_single_split_gives_the_same_events(at: int) -> None:
    assert cut([RECORDED[:at], RECORDED[at:]]) == (RECORDED_EVENTS, b"")


def test_byte_by_byte_gives_the_same_events() -> None:
    assert cut([bytes([byte]) for byte in RECORDED]) == (RECORDED_EVENTS, b"")


STREAMS = st.lists(st.sampled_from([b"data: x", b":", b"\r", b"\n", b"\r\n", b"\xef\xbb\xbf", b"data", b"\xff"])).map(
    b"".join
)


@given(STREAMS, st.lists(st.integers(0, 60)))
def test_chunks_never_matter_and_no_byte_is_lost(stream: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(at, len(stream)) for at in cuts), len(stream)]
    chunks = [stream[start:end] for start, end in pairwise(edges)]
    events, rest = cut(chunks)
    assert (events, rest) == cut([stream])
    assert b"".join(events) + rest == stream


@given(STREAMS)
def test_at_every_moment_events_and_rest_are_what_was_fed(stream: bytes) -> None:
    splitter = EventSplitter()
    returned = b""
    for number, byte in enumerate(stream, start=1):
        returned += b"".join(splitter.feed(bytes([byte])))
        assert returned + splitter.rest == stream[:number]


@given(STREAMS)
def test_each_event_ends_with_its_only_blank_line(stream: bytes) -> None:
    # A mark counts as nothing at the start of the stream only; later it is text like any other.
    events = cut([stream])[0]
    texts = [event.removeprefix(b"" if number else b"\xef\xbb\xbf") for number, event in enumerate(events)]
    for text in texts:
        lines = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        assert lines[-2:] == [b"", b""]
        assert all(lines[:-2])


def test_an_event_is_returned_with_its_last_byte() -> None:
    splitter = EventSplitter()
    assert splitter.feed(b"data: a\n") == []
    assert splitter.feed(b"\n") == [b"data: a\n\n"]


def test_a_line_feed_after_a_held_carriage_return_belongs_to_the_event() -> None:
    splitter = EventSplitter()
    assert splitter.feed(b"data: a\r\n\r") == []
    assert splitter.feed(b"\n") == [b"data: a\r\n\r\n"]


def test_a_held_carriage_return_ends_the_event_when_the_next_byte_is_no_line_feed() -> None:
    splitter = EventSplitter()
    assert splitter.feed(b"data: a\r\r") == []
    assert splitter.feed(b"d") == [b"data: a\r\r"]
    assert splitter.rest == b"d"


def test_a_cut_event_is_no_event() -> None:
    assert cut([b"data: a\n\ndata: b\n"]) == ([b"data: a\n\n"], b"data: b\n")


def test_a_mark_before_a_blank_line_hides_nothing() -> None:
    assert cut([b"\xef\xbb\xbf\ndata: a\n\n"]) == ([b"\xef\xbb\xbf\n", b"data: a\n\n"], b"")


def test_the_largest_event_passes_and_one_byte_more_is_refused() -> None:
    largest = b"data: " + b"x" * (MAX_EVENT - 8) + b"\n\n"
    assert cut([largest]) == ([largest], b"")
    splitter = EventSplitter()
    with pytest.raises(ValueError, match=rf"read {MAX_EVENT + 1} bytes of one event; an event has at most 1048576"):
        splitter.feed(b"d" + largest)
    assert splitter.rest == b"d" + largest


def test_an_event_that_never_ends_is_refused_without_losing_a_byte() -> None:
    splitter = EventSplitter()
    assert splitter.feed(b"data: a\n\n" + b"x" * MAX_EVENT) == [b"data: a\n\n"]
    with pytest.raises(ValueError, match="check that the server sends text/event-stream"):
        splitter.feed(b"x")
    assert splitter.rest == b"x" * (MAX_EVENT + 1)


def test_many_events_larger_together_than_one_may_be_pass() -> None:
    event = b"data: " + b"x" * 1000 + b"\n\n"
    assert cut([event * 1200]) == ([event] * 1200, b"")


@pytest.mark.parametrize(
    ("event", "data"),
    [
        (b"data:a\n\n", "a"),
        (b"data:  a \n\n", " a "),
        (b"data: a: b\n\n", "a: b"),
        (b"data: a\nevent: x\ndata: b\n\n", "a\nb"),
        (b"data:\n\n", ""),
        (b"data:\ndata:\n\n", "\n"),
        (b" data: a\n\n", None),
        (b"datas: a\n\n", None),
        (b"Data: a\n\n", None),
        (b":data: a\n\n", None),
        (b"id: 1\nretry: 5\n\n", None),
        (b"\n", None),
        (b"data: \xff\n\n", "\ufffd"),
    ],
)
def test_data_is_read_as_the_standard_says(event: bytes, data: str | None) -> None:
    assert event_data(event) == data


@pytest.mark.parametrize(
    ("event", "left"),
    [
        (b"data: a\n\n", b"data: X\n\n"),
        (b"id: 7\r\nevent: m\r\ndata:a\r\nretry: 10\r\n\r\n", b"id: 7\r\nevent: m\r\ndata: X\r\nretry: 10\r\n\r\n"),
        (b"data: a\n: c\ndata: b\rdata\r\r", b"data: X\n: c\n\r"),
        (b"\xef\xbb\xbfdata: a\n\n", b"\xef\xbb\xbfdata: X\n\n"),
        (b"data: a", b"data: X"),
    ],
)
def test_other_data_leaves_all_else_of_an_event(event: bytes, left: bytes) -> None:
    assert with_data(event, "X") == left


@given(st.text())
def test_other_data_is_read_as_one_line(data: str) -> None:
    read = event_data(with_data(b"id: 1\ndata: a\ndata: b\n\n", data))
    assert read == data.replace("\r", " ").replace("\n", " ")
