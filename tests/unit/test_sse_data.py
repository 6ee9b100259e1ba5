"""`feed_data` gives the data that `feed` and `event_data` give, however the stream is written and cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from chaosgate.sse import EventSplitter, event_data

lines = st.sampled_from([b"data: a", b"data: {}", b"data:b", b"data", b"event: x", b": comment", b"data: \xff", b"dat"])
ends = st.sampled_from([b"\n", b"\n\n", b"\r\n\r\n", b"\r", b"\n\r\n", b"\n\n\n"])
plain = st.sampled_from([b"data: a\n\n", b"data: [DONE]\n\n", b"data: \n\n"])
streams = st.lists(plain | st.tuples(lines, ends).map(b"".join), max_size=12).map(b"".join)
starts = st.sampled_from([b"", b"\xef\xbb\xbf"])


def cut(stream: bytes, at: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(stream) + 1) for place in at), len(stream)]
    return [stream[begin:end] for begin, end in pairwise(edges)]


@settings(max_examples=400)
@given(starts, streams, st.lists(st.integers(0, 500), max_size=6))
def test_the_data_of_a_stream_does_not_depend_on_how_it_is_read(start: bytes, stream: bytes, at: list[int]) -> None:
    quick, careful = EventSplitter(), EventSplitter()
    pieces = cut(start + stream, at)
    found = [data for piece in pieces for data in quick.feed_data(piece)] + quick.close_data()
    events = [event for piece in pieces for event in careful.feed(piece)] + careful.close()
    wanted = [data for event in events if (data := event_data(event)) is not None]
    assert [data.decode("utf-8", errors="replace") for data in found] == wanted
    assert quick.rest == careful.rest


def test_a_mark_of_byte_order_is_one_at_the_start_only() -> None:
    splitter = EventSplitter()
    assert splitter.feed_data(b"data: a\n\n") == [b"a"]
    assert splitter.feed_data(b"\xef\xbb\xbfdata: b\n\n") == [event_data(b"\xef\xbb\xbfdata: b\n\n").encode()]
