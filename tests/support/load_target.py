"""A server of OpenAI's API in a thread, for tests of what loads it: it counts, and answers as it is told."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from chaosgate.serving import in_background

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Target:
    """What the server does, and what it was asked; a first request for one token, the check, is not counted."""

    answer: Answer
    models: tuple[str, ...] | None = ("m",)
    """None: it has no list of models."""
    adapters: tuple[str, ...] = ()
    """Of the first model."""
    key: str | None = None
    moved: bool = False
    """Whether its list of models is elsewhere."""
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    checked: int = 0
    open: int = 0
    """Requests that are under way."""

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """A chat completion."""
        if (refused := self._refused(request)) is not None:
            return refused
        body = await request.json()
        if body["max_tokens"] == 1:
            self.checked += 1
        else:
            self.asked.append(body)
        self.open += 1
        try:
            return await self.answer(request)
        finally:
            self.open -= 1

    async def list(self, request: web.Request) -> web.StreamResponse:
        """The models."""
        if (refused := self._refused(request)) is not None:
            return refused
        if self.moved:
            return web.Response(status=302, headers={"Location": "/elsewhere"})
        if self.models is None:
            return error(404, "Not Found")
        data: list[dict[str, str]] = [{"id": name} for name in self.models]
        data += [{"id": name, "parent": self.models[0]} for name in self.adapters]
        return web.json_response({"object": "list", "data": data})

    def _refused(self, request: web.Request) -> web.StreamResponse | None:
        if self.key is None or request.headers.get("Authorization") == f"Bearer {self.key}":
            return None
        return error(401, "no key")


def event(**chunk: Any) -> bytes:
    """One event."""
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def tokens(count: int = 3, first: float = 0.0, gap: float = 0.0) -> Answer:
    """Answers with so many tokens, the first after `first` seconds, the others `gap` apart."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await asyncio.sleep(first)
        await response.prepare(request)
        for number in range(count):
            await asyncio.sleep(gap if number else 0.0)
            await response.write(event(choices=[{"index": 0, "delta": {"content": f"w{number} "}}]))
        await response.write(event(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}]))
        await response.write(event(choices=[], usage={"prompt_tokens": 5, "completion_tokens": count}))
        await response.write(b"data: [DONE]\n\n")
        return response

    return answer


def fails(status: int, message: str) -> Answer:
    """Answers with an error."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return error(status, message)

    return answer


def whole(text: str = "ok") -> Answer:
    """Answers without a stream."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"choices": [{"message": {"content": text}}]})

    return answer


def error(status: int, message: str) -> web.Response:
    """An error as OpenAI writes it."""
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)


@contextmanager
def loaded(target: Target, tls: ssl.SSLContext | None = None) -> Iterator[Target]:
    """`target` with the URL of a server that does as it says."""

    @asynccontextmanager
    async def serving() -> AsyncIterator[str]:
        application = web.Application()
        application.router.add_post("/v1/chat/completions", target.chat)
        application.router.add_get("/v1/models", target.list)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        try:
            yield f"http{'s' if tls else ''}://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    with in_background(serving) as background:
        target.url = background.served
        yield target
