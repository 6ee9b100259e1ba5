"""The engine's HTTP interface, OpenAI-compatible."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from dataclasses import asdict
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

import chaosgate
from chaosgate.engine import openai_api
from chaosgate.engine.engine import Engine
from chaosgate.engine.errors import ApiError
from chaosgate.engine.metrics import Metrics
from chaosgate.engine.openai_api import Answer, ApiRequest, ServedModel
from chaosgate.engine.scheduler import EngineDeadError, QueueFullError
from chaosgate.engine.sequence import Delta, Generation
from chaosgate.prometheus import CONTENT_TYPE
from chaosgate.sse import DONE_EVENT

MODEL_CREATED = 1735689600
"""`created` of the model, 2025-01-01: a constant, for seeded weights are the same whenever they are made."""

MAX_BODY_BYTES = 256 * 1024
"""Several times what the longest prompt that fits takes; more would hold up the event loop for nothing."""

Parse = Callable[[bytes, ServedModel], ApiRequest]


class Api:
    """The handlers over one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._served = ServedModel(engine.config.model, engine.model_config.max_model_len)
        self._metrics = Metrics(engine.config.model)

    def application(self) -> web.Application:
        """An aiohttp application; shutting it down closes the engine, which ends the open streams."""
        app = web.Application(middlewares=[openai_errors], client_max_size=MAX_BODY_BYTES)
        app.router.add_get("/health", self.health)
        app.router.add_get("/metrics", self.metrics)
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/v1/completions", self.completions)
        app.router.add_post("/v1/chat/completions", self.chat_completions)
        app.on_shutdown.append(self._close)
        return app

    async def _close(self, _: web.Application) -> None:
        self._engine.close()

    async def health(self, _: web.Request) -> web.Response:
        """200 while the engine can compute, else 503."""
        if not self._engine.alive:
            raise _unavailable(EngineDeadError())
        return web.json_response({"status": "ok"})

    async def metrics(self, _: web.Request) -> web.Response:
        """Prometheus text."""
        scheduler = self._engine.scheduler
        page = self._metrics.render(scheduler.running, scheduler.waiting, scheduler.cache_usage)
        return web.Response(body=page.encode(), headers={"Content-Type": CONTENT_TYPE})

    async def models(self, _: web.Request) -> web.Response:
        """The one model, with what a run needs to tell this engine from another under the same name."""
        entry = {
            "id": self._served.name,
            "object": "model",
            "created": MODEL_CREATED,
            "owned_by": "chaosgate",
            "max_model_len": self._served.max_model_len,
            "chaosgate": {
                "weights_digest": self._engine.weights_digest,
                "engine": "embedded",
                "engine_version": chaosgate.__version__,
                "arguments": asdict(self._engine.config),
            },
        }
        return web.json_response({"object": "list", "data": [entry]})

    async def completions(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/completions."""
        return await self._answer(request, openai_api.parse_completion)

    async def chat_completions(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/chat/completions."""
        return await self._answer(request, openai_api.parse_chat)

    async def _answer(self, request: web.Request, parse: Parse) -> web.StreamResponse:
        asked = parse(await request.read(), self._served)
        answer = Answer(
            id=f"{'chatcmpl' if asked.chat else 'cmpl'}-{uuid.uuid4().hex}",
            created=int(time.time()),
            model=self._served.name,
            chat=asked.chat,
            prompt_tokens=len(asked.generation.prompt),
        )
        async with aclosing(self._measured(asked.generation)) as deltas:
            if asked.stream:
                return await _stream(request, answer, deltas, asked.include_usage)
            return await _whole(answer, deltas)

    async def _measured(self, generation: Generation) -> AsyncGenerator[Delta]:
        started = time.monotonic()
        ended, finish, first = started, "abort", True
        try:
            async with aclosing(self._engine.generate(generation)) as deltas:
                async for delta in deltas:
                    if first:
                        self._metrics.first_token(len(generation.prompt), delta.at - started)
                        first = False
                    self._metrics.token()
                    ended, finish = delta.at, delta.finish or "abort"
                    yield delta
        except (QueueFullError, EngineDeadError) as error:
            finish = "error"
            raise _unavailable(error) from error
        finally:
            self._metrics.finished(finish, ended - started)


async def _whole(answer: Answer, deltas: AsyncIterator[Delta]) -> web.Response:
    parts = []
    finish = ""
    async for delta in deltas:
        parts.append(delta.text)
        finish = delta.finish or ""
    return web.json_response(answer.whole("".join(parts), finish, len(parts)))


async def _stream(
    request: web.Request, answer: Answer, deltas: AsyncIterator[Delta], include_usage: bool
) -> web.StreamResponse:
    # The first token is awaited before anything is sent, so that a refusal still has its own status.
    delta = await anext(deltas)
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
    )
    await response.prepare(request)
    # A client that leaves in the middle of its stream is no error of the server.
    with suppress(ConnectionResetError):
        await _send(response, answer, delta, deltas, include_usage)
    return response


async def _send(
    response: web.StreamResponse, answer: Answer, first: Delta, deltas: AsyncIterator[Delta], include_usage: bool
) -> None:
    # With usage asked for, OpenAI sends the field in every event, null up to the last.
    extra: dict[str, Any] = {"usage": None} if include_usage else {}
    if answer.chat:
        await response.write(_event(answer.opening() | extra))
    tokens = 1
    await response.write(_event(answer.token(first.text, first.finish) | extra))
    try:
        async for delta in deltas:
            tokens += 1
            await response.write(_event(answer.token(delta.text, delta.finish) | extra))
    except ApiError as error:
        # Too late for a status: the stream says it and ends without [DONE].
        await response.write(_event(error.body()))
        return
    if include_usage:
        await response.write(_event(answer.closing(tokens)))
    await response.write(DONE_EVENT)


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data, separators=(",", ":")).encode() + b"\n\n"


def _unavailable(error: QueueFullError | EngineDeadError) -> ApiError:
    code = "queue_full" if isinstance(error, QueueFullError) else "engine_dead"
    return ApiError(str(error), status=503, kind="server_error", code=code)


@web.middleware
async def openai_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers refusals, the framework's own too, with OpenAI's error object."""
    try:
        return await handler(request)
    except ApiError as error:
        refusal = error
    except web.HTTPException as error:
        refusal = ApiError(_framework_message(request, error), status=error.status, code=_code(error.status))
    headers = {"Retry-After": "1"} if refusal.code == "queue_full" else {}
    return web.json_response(refusal.body(), status=refusal.status, headers=headers)


def _framework_message(request: web.Request, error: web.HTTPException) -> str:
    if error.status == 404:
        known = "/v1/models, /v1/completions, /v1/chat/completions, /health, /metrics"
        return f"no such path: {request.method} {request.path}; known: {known}"
    if error.status == 405:
        return f"{request.path} does not take {request.method}"
    return error.text or error.reason


def _code(status: int) -> str:
    return {404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}.get(status, "http_error")
