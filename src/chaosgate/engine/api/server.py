"""The engine's HTTP interface, OpenAI-compatible."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager, suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, TypeVar

from aiohttp import web

import chaosgate
from chaosgate.engine.api import tokens
from chaosgate.engine.api.answers import Answer
from chaosgate.engine.api.embeddings import Reading, embeddings_body, parse_embeddings
from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.fields import Body
from chaosgate.engine.api.limits import LIMITS, Limits
from chaosgate.engine.api.merging import merged
from chaosgate.engine.api.metrics import Load, Metrics
from chaosgate.engine.api.refusals import ENGINE_REFUSALS, engine_refusal, openai_errors, read_bounded
from chaosgate.engine.api.requests import ApiRequest, parse_chat, parse_completion
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.api.streams import Deltas, json_response, streamed, whole
from chaosgate.engine.armed import tell
from chaosgate.engine.runtime.engine import Engine
from chaosgate.engine.runtime.scheduler import EngineDeadError
from chaosgate.engine.runtime.sequence import Delta, Generation
from chaosgate.model.sites import Hooks
from chaosgate.prometheus import CONTENT_TYPE

if TYPE_CHECKING:
    from chaosgate.engine.faulting import Faulting

Parsed = TypeVar("Parsed")
Parse = Callable[[bytes, ServedModel], Parsed]


class Api:
    """The handlers over one engine."""

    def __init__(self, engine: Engine, limits: Limits = LIMITS, faulting: Faulting | None = None) -> None:
        self._engine = engine
        self._faulting = faulting
        self._limits = limits
        config = engine.config
        adapters = tuple(engine.adapters)
        self.served = ServedModel(config.model, engine.model_config.max_model_len, adapters, config.max_waiting)
        self._metrics = Metrics(config.model)
        # One thread: however many large bodies come at once, they take turns with the steps of the engine as one does.
        self._reader = ThreadPoolExecutor(1, "chaosgate-reader")
        self._open = 0
        self._draining = False
        self._idle = asyncio.Event()
        self._idle.set()

    def application(self) -> web.Application:
        """An aiohttp application; shutting it down closes the engine, which ends the open streams."""
        app = web.Application(middlewares=[openai_errors], client_max_size=self._limits.body_bytes)
        app.router.add_get("/health", self.health)
        app.router.add_get("/metrics", self.metrics)
        app.router.add_get("/v1/models", self.models)
        app.router.add_get("/v1/models/{model:.+}", self.model)
        app.router.add_post("/v1/completions", self.completions)
        app.router.add_post("/v1/chat/completions", self.chat_completions)
        app.router.add_post("/v1/embeddings", self.embeddings)
        app.router.add_post("/tokenize", self.tokenize)
        app.router.add_post("/detokenize", self.detokenize)
        app.on_response_prepare.append(tell)
        app.on_shutdown.append(self._close)
        return app

    async def _close(self, _: web.Application) -> None:
        self._reader.shutdown(wait=False, cancel_futures=True)
        self._engine.close()

    @property
    def open(self) -> int:
        """Requests that are being read or answered."""
        return self._open

    async def drain(self, seconds: float) -> None:
        """Refuses new requests with 503, and waits until the last open one is answered or `seconds` are over.

        What only looks, the models and the metrics, is answered to the end.
        """
        self._draining = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), seconds)

    async def health(self, _: web.Request) -> web.Response:
        """200 while the engine takes requests, else 503."""
        self._refuse_late()
        if not self._engine.alive:
            raise engine_refusal(EngineDeadError())
        return web.json_response({"status": "ok"})

    async def metrics(self, _: web.Request) -> web.Response:
        """Prometheus text."""
        scheduler = self._engine.scheduler
        cache = scheduler.cache
        load = Load(
            scheduler.running,
            scheduler.waiting,
            scheduler.cache_usage,
            scheduler.preemptions,
            cache.queried,
            cache.found,
        )
        return web.Response(body=self._metrics.render(load).encode(), headers={"Content-Type": CONTENT_TYPE})

    async def models(self, _: web.Request) -> web.Response:
        """The base model and its adapters, with what a run needs to tell this engine from another under their names."""
        return json_response(self._listing())

    async def model(self, request: web.Request) -> web.Response:
        """One of them; 404 for another name."""
        name = request.match_info["model"]
        self.served.adapter({"model": name})
        return json_response(next(entry for entry in self._listing()["data"] if entry["id"] == name))

    def _listing(self) -> Body:
        engine = self._engine
        own = {
            "weights_digest": engine.weights_digest,
            "engine": "embedded",
            "engine_version": chaosgate.__version__,
            "arguments": asdict(engine.config),
        }
        return self.served.listing(own, {name: adapter.digest() for name, adapter in engine.adapters.items()})

    async def completions(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/completions."""
        return await self._answer(request, parse_completion)

    async def chat_completions(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/chat/completions."""
        return await self._answer(request, parse_chat)

    async def embeddings(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/embeddings."""
        with self._working():
            asked = await self._parsed(request, parse_embeddings)
            readings = [Reading() for _ in asked.generations]
            hooks = self._armed(request) or Hooks({})
            generations = [
                replace(generation, hooks=hooks.then(reading.hooks))
                for generation, reading in zip(asked.generations, readings, strict=True)
            ]
            async with aclosing(self._generated(generations)) as deltas:
                async for _ in deltas:
                    pass
            return json_response(embeddings_body(asked, [reading.vector for reading in readings]))

    async def tokenize(self, request: web.Request) -> web.Response:
        """POST /tokenize."""
        with self._working():
            return json_response(await self._parsed(request, tokens.tokenize))

    async def detokenize(self, request: web.Request) -> web.Response:
        """POST /detokenize."""
        with self._working():
            return json_response(await self._parsed(request, tokens.detokenize))

    async def _parsed(self, request: web.Request, parse: Parse[Parsed]) -> Parsed:
        raw = await read_bounded(request, self._limits)
        if len(raw) < self._limits.inline_bytes:
            return parse(raw, self.served)
        return await asyncio.get_running_loop().run_in_executor(self._reader, parse, raw, self.served)

    async def _answer(self, request: web.Request, parse: Parse[ApiRequest]) -> web.StreamResponse:
        with self._working():
            asked = await self._parsed(request, parse)
            answer = Answer(f"{'chatcmpl' if asked.chat else 'cmpl'}-{uuid.uuid4().hex}", int(time.time()), asked)
            hooks = self._armed(request)
            generations = [replace(generation, request=answer.id, hooks=hooks) for generation in asked.generations]
            async with aclosing(self._generated(generations)) as deltas:
                if asked.stream:
                    return await streamed(request, answer, deltas, self._limits.write_seconds)
                return await whole(answer, deltas)

    def _armed(self, request: web.Request) -> Hooks | None:
        """The faults that the request carries, where the engine was started to carry some."""
        return None if self._faulting is None else self._faulting.arm(request)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Counts a request as open; ApiError while the server shuts down."""
        self._refuse_late()
        self._open += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._idle.set()

    def _refuse_late(self) -> None:
        if self._draining:
            raise ApiError(
                "the engine is shutting down and takes no new requests; send it to another or start it again",
                status=503,
                kind="server_error",
                code="shutting_down",
            )

    def _generated(self, generations: Sequence[Generation]) -> Deltas:
        return merged([self._measured(generation) for generation in generations])

    async def _measured(self, generation: Generation) -> AsyncGenerator[Delta]:
        started = time.monotonic()
        last, finish = started, "abort"
        try:
            async with aclosing(self._engine.generate(generation)) as deltas:
                async for delta in deltas:
                    if last == started:
                        seconds = delta.at - started
                        self._metrics.first_token(len(generation.prompt), delta.queued, seconds)
                    else:
                        self._metrics.next_token(delta.at - last)
                    last, finish = delta.at, delta.finish or "abort"
                    yield delta
        except ENGINE_REFUSALS as error:
            finish = "error"
            raise engine_refusal(error) from error
        finally:
            self._metrics.finished(finish, last - started)
