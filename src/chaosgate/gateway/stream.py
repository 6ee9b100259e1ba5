"""A response on its way to the client: passed on as it comes, or cut off after some of its events."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncIterator, Callable, Sequence

import aiohttp
from aiohttp import HttpVersion11, hdrs, web

from chaosgate.gateway.chain import PlannedCut
from chaosgate.gateway.headers import response_headers
from chaosgate.model.fault import Cut
from chaosgate.sse import DONE, EventSplitter, event_data

_ABORT = struct.pack("ii", 1, 0)
"""SO_LINGER, on with 0 s: closing sends RST (socket(7))."""


class UpstreamBroken(Exception):
    """The server's response ended before its end."""


class EventTooLong(Exception):
    """The stream cannot be cut, as its events do not end; all its bytes can still be passed on."""


class PassThrough(web.StreamResponse):
    """The server's response, status line and headers unchanged."""

    def __init__(self, upstream: aiohttp.ClientResponse) -> None:
        self.passed = response_headers(upstream.headers)
        super().__init__(status=upstream.status, reason=upstream.reason, headers=self.passed)


async def remove_own_headers(request: web.Request, response: web.StreamResponse) -> None:
    """A signal that takes out again what aiohttp adds to a response and its server did not send."""
    if isinstance(response, PassThrough):
        for name in (hdrs.SERVER, hdrs.DATE, hdrs.CONTENT_TYPE):
            if name not in response.passed:
                response.headers.popall(name, None)


async def relay(upstream: aiohttp.ClientResponse, response: web.StreamResponse) -> None:
    """Pass the whole body on; UpstreamBroken when it ends too soon."""
    async for chunk in _chunks(upstream):
        await response.write(chunk)


async def relay_until_cut(
    upstream: aiohttp.ClientResponse, response: web.StreamResponse, planned: PlannedCut, halted: Callable[[], bool]
) -> bool:
    """Pass events on up to the cut and return True once it is made, False when the stream ended first.

    The event after the last one allowed is what is cut off: a stream that has no such event stays whole. After a halt
    nothing is cut any more.
    """
    splitter, point = EventSplitter(), CutPoint(planned.cut)
    try:
        async for events in _events(upstream, splitter):
            passed = events if halted() else point.passed(events)
            await response.write(b"".join(passed))
            if len(passed) < len(events):
                planned.touch.apply(_effect(planned.cut))
                return True
    except EventTooLong:
        planned.touch.bypass("an event is too long")
        await response.write(splitter.rest)
        await relay(upstream, response)
        return False
    planned.touch.bypass("halted" if halted() else "the stream ended first")
    await response.write(splitter.rest)
    return False


class CutPoint:
    """Counts the data events of one stream; comments and the final `[DONE]` do not count."""

    def __init__(self, cut: Cut) -> None:
        self._left = cut.after
        self._marker = cut.marker

    def passed(self, events: Sequence[bytes]) -> Sequence[bytes]:
        """Those of `events` that come before the cut."""
        for index, event in enumerate(events):
            data = event_data(event)
            # With the marker a stream that is at its own [DONE] loses nothing.
            if data is not None and self._left == 0 and not (self._marker and data == DONE):
                return events[:index]
            self._left -= data not in (None, DONE)
        return events


def choose_cut(upstream: aiohttp.ClientResponse, cuts: Sequence[PlannedCut]) -> PlannedCut | None:
    """The earliest of `cuts`, None when there is none or the response is no stream of events."""
    if not cuts:
        return None
    reason = _uncuttable(upstream)
    first = None if reason else min(cuts, key=lambda planned: planned.cut.after)
    for planned in cuts:
        if planned is not first:
            planned.touch.bypass(reason or f"cut by {first.touch.fault if first else None}")
    return first


def break_off(request: web.Request) -> None:
    """Close the client's connection after what was written, so that it sees that the response is not whole."""
    transport = request.transport
    if transport is None:
        return
    sock = transport.get_extra_info("socket")
    if request.version < HttpVersion11 and sock is not None:
        # Before HTTP/1.1 a body may end with the connection; only a reset shows that something is missing.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
    transport.close()


async def _chunks(upstream: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for chunk in upstream.content.iter_any():
            yield chunk
    except (aiohttp.ClientError, OSError) as error:
        raise UpstreamBroken from error


async def _events(upstream: aiohttp.ClientResponse, splitter: EventSplitter) -> AsyncIterator[list[bytes]]:
    """The events that each chunk completes; what ends in no event stays in `splitter.rest`."""
    try:
        async for chunk in _chunks(upstream):
            yield splitter.feed(chunk)
        yield splitter.close()
    except ValueError as error:
        raise EventTooLong from error


def _uncuttable(upstream: aiohttp.ClientResponse) -> str | None:
    if upstream.content_type != "text/event-stream":
        return "not a stream"
    if upstream.headers.get(hdrs.CONTENT_ENCODING, "identity") != "identity":
        return "the stream is compressed"
    return None


def _effect(cut: Cut) -> str:
    return f"cut after {cut.after} events" + (" with [DONE]" if cut.marker else "")
