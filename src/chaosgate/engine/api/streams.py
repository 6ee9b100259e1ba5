"""An answer on its way to the client: whole, or as server-sent events while it is generated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Self

from aiohttp import web

from chaosgate.engine.api.answers import Answer, encode_json, error_event
from chaosgate.engine.api.errors import ApiError, unexpected
from chaosgate.engine.runtime.sequence import Delta
from chaosgate.sse import DONE_EVENT

Deltas = AsyncGenerator[tuple[int, Delta]]
"""Tokens with the index of the choice that they belong to."""


async def whole(answer: Answer, deltas: Deltas) -> web.Response:
    """The answer in one piece, once its last token is there."""
    answered: list[list[Delta]] = [[] for _ in answer.choices]
    async for index, delta in deltas:
        answered[index].append(delta)
    return json_response(answer.whole(answered))


def json_response(body: object, status: int = 200) -> web.Response:
    """`body` as JSON."""
    return web.Response(body=encode_json(body).encode(), status=status, content_type="application/json")


async def streamed(request: web.Request, answer: Answer, deltas: Deltas, write_seconds: float) -> web.StreamResponse:
    """One event a token, as they come.

    A client that leaves, or takes nothing for `write_seconds`, ends it: the iteration over `deltas` is left.
    """
    # The first token is awaited before anything is sent, so that a refusal still has its own status.
    first = await anext(deltas)
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
    )
    await response.prepare(request)
    # A client that leaves in the middle of its stream is no error of the server.
    with suppress(ConnectionResetError), Patience(request, write_seconds) as patience:
        async for event in _events(answer, first, deltas, f"{request.method} {request.path}"):
            patience.begin()
            await response.write(event)
            patience.end()
    return response


class Patience:
    """Cuts a client off that holds up one write for `seconds` or more, at the latest after twice as long.

    It looks once every `seconds`: a timer for each event would cost as much as sending the event does.
    """

    def __init__(self, request: web.Request, seconds: float) -> None:
        self._transport = request.transport
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._since: float | None = None

    def __enter__(self) -> Self:
        self._timer = self._loop.call_later(self._seconds, self._look)
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def begin(self) -> None:
        """A write begins."""
        self._since = self._loop.time()

    def end(self) -> None:
        """It is done."""
        self._since = None

    def _look(self) -> None:
        if self._since is not None and self._loop.time() - self._since >= self._seconds and self._transport:
            # With what is still unsent: waiting for the client to take it could take for ever.
            self._transport.abort()
        else:
            self._timer = self._loop.call_later(self._seconds, self._look)


async def _events(answer: Answer, first: tuple[int, Delta], deltas: Deltas, asked: str) -> AsyncIterator[bytes]:
    opened = [False] * len(answer.choices)
    try:
        async for index, delta in _with_first(first, deltas):
            event = answer.token(index, delta)
            yield event if opened[index] else answer.opening(index) + event
            opened[index] = True
    except Exception as error:  # noqa: BLE001  whatever it is, this is where the client is told
        # Too late for a status: the stream says it and ends without [DONE].
        refusal = error if isinstance(error, ApiError) else unexpected(error, asked)
        yield error_event(refusal.body())
        return
    if answer.asked.include_usage:
        yield answer.closing()
    yield DONE_EVENT


async def _with_first(first: tuple[int, Delta], deltas: Deltas) -> AsyncIterator[tuple[int, Delta]]:
    yield first
    async for following in deltas:
        yield following
