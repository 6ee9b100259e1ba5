"""The event splitter beside a second reader of the standard, byte by byte, on arbitrary bytes in arbitrary chunks."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from chaosgate.sse import EventSplitter, event_data

BYTES = st.lists(
    st.binary(max_size=6) | st.sampled_from([b"\n", b"\r", b"\r\n", b"data:", b"data: x", b":", b"\xef\xbb\xbf", b"id"])
).map(b"".join)


def events_of(stream: bytes) -> list[list[bytes]]:
    """The lines of each event that a blank line ends, read one byte at a time (WHATWG HTML, 9.2.5 and 9.2.6)."""
    events, lines, line, after_return = [], list[bytes](), bytearray(), False
    for byte in stream.removeprefix(b"\xef\xbb\xbf"):
        if after_return and byte == ord("\n"):
            after_return = False
            continue
        after_return = byte == ord("\r")
        if byte not in b"\r\n":
            line.append(byte)
        elif line:
            lines.append(bytes(line))
            line.clear()
        else:
            events.append(lines)
            lines = []
    return events


def data_of(lines: list[bytes]) -> str | None:
    """The data buffer of one event, None where no line is named data."""
    values = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if name == b"data":
            values.append(value[1:] if colon and value.startswith(b" ") else value)
    return b"\n".join(values).decode("utf-8", errors="replace") if values else None


@given(BYTES, st.lists(st.integers(1, 9), min_size=1))
@example(b"\xef\xbb\xbf\r\n", [1])
@example(b"data: a\r\r\n\n", [2])
def test_events_are_those_of_a_reader_byte_by_byte(stream: bytes, sizes: list[int]) -> None:
    splitter, events, start, number = EventSplitter(), list[bytes](), 0, 0
    while start < len(stream):
        size = sizes[number % len(sizes)]
        events += splitter.feed(stream[start : start + size])
        start, number = start + size, number + 1
    events += splitter.close()

    assert b"".join(events) + splitter.rest == stream
    assert [event_data(event) for event in events] == [data_of(lines) for lines in events_of(stream)]
