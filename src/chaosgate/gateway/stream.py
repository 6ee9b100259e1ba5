"""A response on its way to the client: passed on as it comes, or edited event by event."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence

import aiohttp
from aiohttp import HttpVersion11, hdrs, web
from aiohttp.abc import AbstractStreamWriter

from chaosgate.gateway.editing import Editing, EventTooLong
from chaosgate.gateway.headers import response_headers
from chaosgate.gateway.passage import Passage, PlannedEdit
from chaosgate.gateway.state import RunState
from chaosgate.model.content_coding import content_coding
from chaosgate.model.stream_edit import Break, Finish, Pause, Step

_ABORT = struct.pack("ii", 1, 0)
"""SO_LINGER, on with 0 s: closing sends RST (socket(7))."""


class UpstreamBroken(Exception):
    """The server's response ended before its end."""


class PassThrough(web.StreamResponse):
    """The server's response, status line and headers unchanged.

    `at_hand` is what has come of its body: the headers leave in one write with it, and at once where nothing has.
    """

    def __init__(self, upstream: aiohttp.ClientResponse, at_hand: bytes = b"") -> None:
        self.passed = response_headers(upstream.headers)
        super().__init__(status=upstream.status, reason=upstream.reason, headers=self.passed)
        self._at_hand = at_hand
        # aiohttp's own responses say so of themselves. One write is one packet and one wake-up of the client.
        self._send_headers_immediately = not at_hand

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Send the headers, and what is at hand."""
        writer = await super().prepare(request)
        if self._at_hand:
            await self.write(self._at_hand)
            self._at_hand = b""
        return writer


def remove_own_headers(response: web.StreamResponse) -> None:
    """Take out again what aiohttp adds to a response and its server did not send."""
    if isinstance(response, PassThrough):
        for name in (hdrs.SERVER, hdrs.DATE, hdrs.CONTENT_TYPE):
            if name not in response.passed:
                response.headers.popall(name, None)


def at_hand(upstream: aiohttp.ClientResponse) -> bytes:
    """What has come of a body and was not read yet; empty where nothing has, or where it broke off."""
    return upstream.content.read_nowait() if upstream.content.exception() is None else b""


async def relay(upstream: aiohttp.ClientResponse, response: web.StreamResponse, idle: float | None) -> None:
    """Pass the whole body on; UpstreamBroken when it ends too soon, or nothing comes for `idle` seconds."""
    async for chunk in _chunks(upstream, idle):
        await response.write(chunk)


async def relay_edited(
    upstream: aiohttp.ClientResponse, response: web.StreamResponse, editing: Editing, run: RunState
) -> bool:
    """Pass the body on through editors and return whether it ended as if it were whole, False for a Break.

    UpstreamBroken when the server's own response ends too soon or stalls. After a halt, or once an event is too long to
    be held, the rest is passed on as it comes.
    """
    reason, idle = "", run.config.timeouts.idle
    try:
        async for chunk in _chunks(upstream, idle):
            if run.chain.halted:
                await response.write(editing.release() + chunk)
                await relay(upstream, response, idle)
                return True
            ending = await _send(editing.feed(chunk), response, run)
            if ending is not None:
                return ending is not Break
        return await _send(editing.end(), response, run) is not Break
    except EventTooLong:
        reason = "an event is too long"
        await response.write(editing.release())
        await relay(upstream, response, idle)
        return True
    finally:
        editing.close("halted" if run.chain.halted else reason)


async def _send(steps: Iterator[Step], response: web.StreamResponse, run: RunState) -> type[Finish | Break] | None:
    """Send `steps` with as few writes as their pauses allow; Finish or Break where they end the stream."""
    held = bytearray()
    ending: type[Finish | Break] | None = None
    try:
        for step in steps:
            if isinstance(step, bytes):
                held += step
            elif isinstance(step, Pause):
                await _flush(held, response)
                await run.sleepers.until(run.clock.now() + step.seconds)
            else:
                ending = type(step)
                break
    finally:
        await _flush(held, response)
    return ending


async def _flush(held: bytearray, response: web.StreamResponse) -> None:
    if held:
        await response.write(bytes(held))
        held.clear()


def readable(passage: Passage) -> Mapping[str, str]:
    """Headers for the server: an answer that is to be edited or judged must come so that it can be read."""
    return {hdrs.ACCEPT_ENCODING: "identity"} if passage.edits or passage.judges else {}


def editing_of(upstream: aiohttp.ClientResponse, edits: Sequence[PlannedEdit]) -> Editing | None:
    """The editing of a response; None when there is none to do or the response is no stream of events."""
    if not edits:
        return None
    reason = _unreadable(upstream)
    if reason is None:
        return Editing(edits)
    for planned in edits:
        planned.touch.bypass(reason)
    return None


def break_off(request: web.BaseRequest) -> None:
    """Close the client's connection after what was written, so that it sees that the response is not whole."""
    if request.version < HttpVersion11:
        # Before HTTP/1.1 a body may end with the connection; only a reset shows that something is missing.
        reset(request)
    elif request.transport is not None:
        request.transport.close()


def reset(request: web.BaseRequest) -> None:
    """Close the client's connection with a TCP reset."""
    transport = request.transport
    if transport is None:
        return
    sock = transport.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
    transport.close()


async def _chunks(upstream: aiohttp.ClientResponse, idle: float | None) -> AsyncIterator[bytes]:
    try:
        while chunk := await _next(upstream.content, idle):
            yield chunk
    except (aiohttp.ClientError, OSError) as error:
        raise UpstreamBroken from error


def _next(content: aiohttp.StreamReader, idle: float | None) -> Awaitable[bytes]:
    """What has come since the last time, empty at the end; a TimeoutError after `idle` seconds without a byte."""
    return content.readany() if idle is None else _within(idle, content)


async def _within(seconds: float, content: aiohttp.StreamReader) -> bytes:
    async with asyncio.timeout(seconds):
        return await content.readany()


def _unreadable(upstream: aiohttp.ClientResponse) -> str | None:
    if upstream.content_type != "text/event-stream":
        return "not a stream"
    if content_coding(upstream.headers.getall(hdrs.CONTENT_ENCODING, ())) is not None:
        return "the stream is compressed"
    return None
