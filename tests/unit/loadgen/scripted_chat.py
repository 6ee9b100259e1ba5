"""What scripted servers send, and the requests that are sent to them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from chaosgate.loadgen.trace import Call
from chaosgate.model.observation import Observation
from chaosgate.model.spec import Workload
from chaosgate.prompts.prompt import Prompt

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[str]]


def event(data: str) -> bytes:
    """One raw event."""
    return f"data: {data}\n\n".encode()


def token(content: str | None, finish: str | None = None) -> str:
    """The data of one event of a chat stream."""
    delta: dict[str, Any] = {} if content is None else {"content": content}
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


OPENING, BLUE, STOP, DONE = event(token("")), event(token("blue")), event(token(None, "stop")), event("[DONE]")
ANSWER = OPENING + BLUE + STOP + DONE
"""A whole answer of one token."""


def streaming(*steps: bytes | float | None) -> Handler:
    """A handler that writes bytes, sleeps seconds, or (None) breaks the connection off."""

    async def handle(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for step in steps:
            if isinstance(step, bytes):
                await response.write(step)
            elif isinstance(step, float):
                await asyncio.sleep(step)
            else:
                assert request.transport is not None
                request.transport.abort()
                return response
        await response.write_eof()
        return response

    return handle


def call(scheduled: float = 0.0, answer: str | None = "blue", **prompt: Any) -> Call:
    """Request 17 of the first block; `prompt` is what its prompt has besides text and answer."""
    asked = Prompt("facts red=blue\n?red=", answer, **prompt)
    return Call("7.block1.17", "block1", "recall-24/17", asked, scheduled, False)


def workload(
    rate: str = "100/s", timeout: str = "10s", process: str = "constant", prompts: str = "recall-24"
) -> Workload:
    """The load of a phase with seed 7."""
    arrivals = {"process": process, "rate": rate}
    return Workload.model_validate(
        {"arrivals": arrivals, "prompts": {"set": prompts}, "maxTokens": 8, "timeout": timeout, "seed": 7}
    )


def seen(end: float, outcome: str = "ok", ttft: float | None = 0.1, warmup: bool = False) -> Observation:
    """An observation that ended at `end` and was due a second before; no first token unless its outcome is ok."""
    first = end - 1 + ttft if ttft is not None and outcome == "ok" else None
    return Observation.model_validate(
        {
            "request": "7.block1.0",
            "phase": "block1",
            "prompt": "recall-24/0",
            "scheduled": end - 1,
            "sent": end - 1,
            "first": first,
            "tokens": [] if first is None else [first],
            "end": end,
            "status": 200,
            "outcome": outcome,
            "answer": None,
            "text": "sha256:0",
            "warmup": warmup,
        }
    )


class Crowd:
    """Passes requests on to a handler and notes how many it serves at once."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._busy = 0
        self.most = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one."""
        self._busy += 1
        self.most = max(self.most, self._busy)
        try:
            return await self._handler(request)
        finally:
            self._busy -= 1
