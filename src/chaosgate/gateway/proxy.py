"""The data port: every request of the run goes through here, untouched unless a fault that is on says otherwise."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import aiohttp
from aiohttp import hdrs, web
from multidict import CIMultiDict
from yarl import URL

from chaosgate.gateway.body import Body
from chaosgate.gateway.carrying import drop_loads, load_headers, settle_loads
from chaosgate.gateway.chain import Link, Passage
from chaosgate.gateway.headers import request_headers
from chaosgate.gateway.identity import ANONYMOUS, BadRequestId, anonymous_id, read_request_id
from chaosgate.gateway.ledger import Visit
from chaosgate.gateway.state import RunState
from chaosgate.gateway.stream import (
    PassThrough,
    UpstreamBroken,
    break_off,
    choose_cut,
    relay,
    relay_until_cut,
    remove_own_headers,
)
from chaosgate.model.request_id import REQUEST_HEADER
from chaosgate.sse import DONE_EVENT

CLIENT_LEFT = 499
"""The code of a request whose client went away, as nginx counts it."""
MAX_HEADER = 64 * 1024
"""Bytes of one request line or header that are passed on."""
CONNECT_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 1.0
"""How long an idle upstream connection is kept. Servers close theirs after 2 s (gunicorn) or 5 s (uvicorn); a request
sent into a connection that is just being closed would be lost and counted against the server."""


class Proxy:
    """Handles the requests of one run; `session` reaches the server behind the gateway.

    `token` is what an engine wants to see before it carries faults.
    """

    def __init__(self, run: RunState, session: aiohttp.ClientSession, token: str) -> None:
        self._run = run
        self._session = session
        self._token = token
        self._upstream = run.config.upstream.rstrip("/")

    def application(self) -> web.Application:
        """The aiohttp application for the data port: any method, any path."""
        application = web.Application()
        application.on_response_prepare.append(remove_own_headers)
        application.router.add_route("*", "/{path:.*}", self.handle)
        return application

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request and count how it ended."""
        seen = self._run.clock.now()
        self._run.metrics.arrived += 1
        code = CLIENT_LEFT
        try:
            response = await self._admit(request, seen)
            code = response.status
            return response
        except ConnectionError:
            return web.Response(status=CLIENT_LEFT)
        finally:
            self._run.metrics.answered(code)

    async def _admit(self, request: web.Request, seen: float) -> web.StreamResponse:
        """Let a request in that has a valid id or none; whatever is let in ends in the ledger."""
        config = self._run.config
        try:
            identity = read_request_id(request.headers.getall(REQUEST_HEADER, ()), config.seed, config.phases)
        except BadRequestId as error:
            return await _send(request, 400, _error(str(error), "invalid_request_error"))
        if self._run.ledger.full:
            self._run.windows.halt("ledger full")
            return await _send(request, 507, _error("ledger full: the run is halted; start another", "gateway_error"))
        visit = Visit(seen, ANONYMOUS if identity is None else identity.phase, identity)
        repeat = 0 if identity is None else self._run.ledger.occurrence(identity.text)
        body = Body(request)
        self._run.ledger.enter(visit)
        try:
            return await self._serve(request, visit, body)
        finally:
            self._finish(visit, body, repeat)

    async def _serve(self, request: web.Request, visit: Visit, body: Body) -> web.StreamResponse:
        passage = await self._run.chain.walk(self._links(request, visit), visit.seen)
        if passage.reply is not None:
            await body.drain()
            return await _send(request, passage.reply.status, passage.reply.body, passage.reply.headers)
        self._run.metrics.added(self._run.clock.now() - visit.seen - passage.slept)
        try:
            upstream = await self._ask(request, body, self._load(passage))
        except (aiohttp.ClientError, OSError) as error:
            await body.drain()
            return await _send(request, 502, _error(self._describe(error), "gateway_error"))
        settle_loads(passage.loads, upstream)
        try:
            return await self._pass_on(request, upstream, passage)
        finally:
            upstream.close()

    def _links(self, request: web.Request, visit: Visit) -> list[Link]:
        faults = self._run.config.faults_of(visit.phase)
        name = visit.phase if visit.id is None else visit.id.text
        links, visit.touches = self._run.chain.links(faults, name, request.path)
        return links

    def _load(self, passage: Passage) -> Mapping[str, str]:
        """The headers of what the engine has to carry out; none after a halt, however long the request was held."""
        if self._run.chain.halted:
            drop_loads(passage.loads)
            return {}
        return load_headers(passage.loads, passage.shared, self._token)

    async def _ask(self, request: web.Request, body: Body, load: Mapping[str, str]) -> aiohttp.ClientResponse:
        target = request.raw_path if request.raw_path.startswith("/") else request.rel_url.raw_path_qs
        headers = request_headers(request.headers)
        headers.update(load)
        return await self._session.request(
            request.method,
            URL(self._upstream + target, encoded=True),
            headers=headers,
            data=body.chunks() if body.exists else None,
            allow_redirects=False,
        )

    async def _pass_on(
        self, request: web.Request, upstream: aiohttp.ClientResponse, passage: Passage
    ) -> web.StreamResponse:
        response = PassThrough(upstream)
        planned = choose_cut(upstream, passage.cuts)
        if planned is not None:
            response.headers.popall(hdrs.CONTENT_LENGTH, None)
        await response.prepare(request)
        try:
            if planned is None:
                await relay(upstream, response)
            elif await relay_until_cut(upstream, response, planned, lambda: self._run.chain.halted):
                if not planned.cut.marker:
                    raise UpstreamBroken
                await response.write(DONE_EVENT)
        except UpstreamBroken:
            break_off(request)
            return response
        await response.write_eof()
        return response

    def _finish(self, visit: Visit, body: Body, repeat: int) -> None:
        ledger = self._run.ledger
        if visit.id is None:
            digest = body.digest()
            visit.id = anonymous_id(digest, ledger.occurrence(digest))
        ledger.finish(visit, visit.id, repeat, self._run.clock.now())
        for touch in visit.touches:
            if touch.applied and touch.window is not None and touch.window.dose > 0:
                self._run.metrics.injected(touch.kind, body.model())

    def _describe(self, error: Exception) -> str:
        cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
        number = cause.errno if isinstance(cause, OSError) else None
        # Name look-ups fail with negative numbers that strerror does not know.
        text = os.strerror(number).lower() if number and number > 0 else str(cause) or type(cause).__name__
        return f"upstream {self._upstream} did not answer: {text}; check that the server runs"


def upstream_session() -> aiohttp.ClientSession:
    """A client session that changes nothing: no cookies, redirects, decompression, headers or deadlines of its own."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        skip_auto_headers=(hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE),
        max_line_size=MAX_HEADER,
        max_field_size=MAX_HEADER,
    )


def _error(message: str, kind: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


async def _send(
    request: web.Request, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> web.Response:
    named = CIMultiDict({"Content-Type": "application/json"})
    named.update(headers or {})
    response = web.Response(body=json.dumps(dict(body), allow_nan=False).encode(), status=status, headers=named)
    await response.prepare(request)
    await response.write_eof()
    return response
