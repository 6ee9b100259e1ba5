"""Server-sent events, cut and read exactly as WHATWG HTML Living Standard section 9.2 says, without touching a byte.

A proxy passes raw events on, so the splitter gives back the bytes it was fed; only `event_data` interprets them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

DONE = "[DONE]"
"""The data of the event that ends a stream of the OpenAI API."""
DONE_EVENT = f"data: {DONE}\n\n".encode()
"""That event as it is sent."""
MAX_EVENT = 1024 * 1024
"""Bytes one event may have; a server that sends more is broken, and a reader must not hold more of it."""

_BOM = b"\xef\xbb\xbf"
_PLAIN = b"data: "
_NEXT_PLAIN = b"\n\n" + _PLAIN
_LINE_END = re.compile(rb"\r\n|\r|\n")
_LINES = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|\Z)")


class EventSplitter:
    """Cuts a byte stream into events: the events returned so far, joined, plus `rest` are the bytes fed so far.

    The cut does not depend on how the stream was chunked. Time is linear in the bytes fed, whatever the chunks.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._line = 0
        self._scanned = 0
        self._first = True

    @property
    def rest(self) -> bytes:
        """The bytes after the last whole event."""
        return bytes(self._buffer)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that `chunk` completes, each with its blank line at the end.

        An event whose blank line ends in CR is held until one more byte shows whether an LF belongs to it, or `close`.
        An event of more than `MAX_EVENT` bytes is a ValueError; `rest` then has all bytes that were not returned.
        """
        self._buffer += chunk
        return self._cut(final=False)

    def feed_data(self, chunk: bytes) -> list[bytes]:
        """The data of the events that `chunk` completes, as bytes: `event_data` of what `feed` gives."""
        return list(_data_of(self.feed(chunk)))

    def plain_data(self, chunk: bytes, between: bytes) -> tuple[bytes, int] | None:
        """The data of the events that `chunk` would complete, with `between` between them, and how many events it has.

        Only of a chunk of nothing but whole events of one data line each, as servers write them: those are read in one
        go. None of any other chunk. Nothing is fed. `between` is shorter than what stands between two events.
        """
        if self._buffer or not chunk.startswith(_PLAIN) or not chunk.endswith(b"\n\n") or len(chunk) > MAX_EVENT:
            return None
        data = chunk[len(_PLAIN) : -2]
        joined = data.replace(_NEXT_PLAIN, between)
        # Each replacement made it so much shorter.
        events = 1 + (len(data) - len(joined)) // (len(_NEXT_PLAIN) - len(between))
        if b"\r" in chunk or chunk.count(b"\n") != 2 * events:
            return None
        self._first = False
        return joined, events

    def close_data(self) -> list[bytes]:
        """The data of the event that `close` gives."""
        return list(_data_of(self.close())) if self._buffer else []

    def close(self) -> list[bytes]:
        """The event held back for its CR when the stream ends, if there is one. What else is in `rest` is no event."""
        return self._cut(final=True)

    def _cut(self, final: bool) -> list[bytes]:
        events: list[bytes] = []
        start = 0
        while line_end := _LINE_END.search(self._buffer, self._scanned):
            if line_end[0] == b"\r" and line_end.end() == len(self._buffer) and not final:
                self._scanned = line_end.start()
                break
            blank = self._is_blank(line_end.start())
            self._line = self._scanned = line_end.end()
            self._first = False
            if blank:
                _check_size(self._line - start)
                events.append(bytes(self._buffer[start : self._line]))
                start = self._line
        else:
            self._scanned = len(self._buffer)
        _check_size(len(self._buffer) - start)
        self._drop(start)
        return events

    def _is_blank(self, end: int) -> bool:
        if self._first and self._buffer.startswith(_BOM):
            return end == len(_BOM)
        return end == self._line

    def _drop(self, count: int) -> None:
        del self._buffer[:count]
        self._line -= count
        self._scanned -= count


def _check_size(size: int) -> None:
    if size > MAX_EVENT:
        raise ValueError(
            f"read {size} bytes of one event; an event has at most {MAX_EVENT} bytes: "
            "check that the server sends text/event-stream with a blank line after each event"
        )


def event_data(event: bytes) -> str | None:
    """The data of one raw event: its data lines joined by a newline, None when it has none (comments, keep-alives).

    One space after the colon is not part of a value. A byte order mark at the start is skipped, and bytes that are not
    UTF-8 become U+FFFD, as the standard's decoder does.
    """
    data = _raw_data(event)
    return None if data is None else data.decode("utf-8", errors="replace")


def _raw_data(event: bytes) -> bytes | None:
    lines = [line.partition(b":") for line in _LINE_END.split(event.removeprefix(_BOM))]
    values = [value.removeprefix(b" ") for name, _, value in lines if name == b"data"]
    return b"\n".join(values) if values else None


def _data_of(events: Iterable[bytes]) -> Iterator[bytes]:
    return (data for data in map(_raw_data, events) if data is not None)


def with_data(event: bytes, data: str) -> bytes:
    """A raw event, which has data, with `data` in their place; its other lines and its line ends stay as they are.

    Characters that UTF-8 has not become `?`. An event has no line end within its data: several lines become one.
    """
    bom = _BOM if event.startswith(_BOM) else b""
    lines = list(_LINES.finditer(event, len(bom)))
    with_values = [index for index, line in enumerate(lines) if line[1].partition(b":")[0] == b"data"]
    new = b"data: " + data.replace("\r", " ").replace("\n", " ").encode(errors="replace")
    kept = [line[0] for line in lines]
    for index in with_values:
        kept[index] = new + lines[index][2] if index == with_values[0] else b""
    return bom + b"".join(kept)
