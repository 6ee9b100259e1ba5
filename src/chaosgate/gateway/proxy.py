"""The data port: every request of the run goes through here, untouched unless a fault that is on says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import aiohttp
from aiohttp import hdrs, web
from multidict import CIMultiDict
from yarl import URL

from chaosgate.gateway.body import Body
from chaosgate.gateway.chain import Link
from chaosgate.gateway.config import GatewayConfig
from chaosgate.gateway.deadlines import first_byte
from chaosgate.gateway.engine_loads import drop_loads, load_headers, settle_loads
from chaosgate.gateway.filtering import Filtering
from chaosgate.gateway.headers import lead_back, request_headers, unclear_framing
from chaosgate.gateway.identity import ANONYMOUS, BadRequestId, RequestId, anonymous_id, read_request_id
from chaosgate.gateway.ledger import Visit
from chaosgate.gateway.own_answers import (
    answer_pathless,
    error_answer,
    is_pathless,
    json_answer,
    meet_expectation,
    send,
)
from chaosgate.gateway.passage import Passage
from chaosgate.gateway.state import RunState
from chaosgate.gateway.stream import (
    PassThrough,
    UpstreamBroken,
    at_hand,
    break_off,
    editing_of,
    readable,
    relay,
    relay_edited,
    reset,
)
from chaosgate.gateway.tls import client_context
from chaosgate.gateway.tracing import trace_request
from chaosgate.gateway.upstreams import NOT_CONNECTED, Server, UpstreamFailure
from chaosgate.gateway.wishes import note_wishes
from chaosgate.model.fault import Reply, Reset
from chaosgate.model.filter import passes_unguarded
from chaosgate.model.prompt_text import read_prompt
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.request_id import REQUEST_HEADER

CLIENT_LEFT = 499
"""The code of a request whose client went away, as nginx counts it."""
MAX_HEADER = 64 * 1024
"""Bytes of one request line or header that are passed on."""
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
        self._filtering = Filtering(run)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request of any method and path, and count how it ended."""
        if is_pathless(request):
            return await answer_pathless(request)
        if hdrs.EXPECT in request.headers and (refused := await meet_expectation(request)) is not None:
            return refused
        return await self._count(request)

    async def _count(self, request: web.BaseRequest) -> web.StreamResponse:
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
            trace_request(request, code, self._run.clock.now() - seen)

    async def _admit(self, request: web.BaseRequest, seen: float) -> web.StreamResponse:
        """Let a request in that has a valid id or none; all that are let in end in the ledger."""
        config = self._run.config
        if (unclear := unclear_framing(request.version, request.headers)) is not None:
            return await _refuse(request, unclear)
        try:
            identity = read_request_id(request.headers.getall(REQUEST_HEADER, ()), config.seed, config.phases)
        except BadRequestId as error:
            return await send(request, error_answer(400, str(error)))
        if self._run.ledger.full:
            self._run.windows.halt("ledger full")
            return await send(request, error_answer(507, "ledger full: the run is halted; start another"))
        return await self._serve(request, seen, identity)

    async def _serve(self, request: web.BaseRequest, seen: float, identity: RequestId | None) -> web.StreamResponse:
        visit = Visit(seen, ANONYMOUS if identity is None else identity.phase, identity)
        repeat = 0 if identity is None else self._run.ledger.occurrence(identity.text)
        body = Body(request)
        self._run.ledger.enter(visit)
        try:
            passage = Passage(due=visit.seen, found=visit.found)
            ended = await self._end_here(request, visit, body, passage)
            return await self._forward(request, body, passage) if ended is None else ended
        finally:
            self._finish(visit, body, repeat)

    async def _end_here(
        self, request: web.BaseRequest, visit: Visit, body: Body, passage: Passage
    ) -> web.StreamResponse | None:
        """What a fault or a filter ended the request with, sent; None where it goes on, as these have left it."""
        links = await self._links(request, visit, body, passage)
        asked = passage.prompt
        await self._run.chain.walk(links, passage)
        if passage.ending is not None:
            return await _end(request, body, passage.ending)
        if visit.guarded and (filtered := await self._filtering.end_here(request, body, passage)) is not None:
            return filtered
        if passage.prompt is not None and passage.prompt != asked:
            body.rewrite(passage.prompt)
        self._run.metrics.added(self._run.clock.now() - visit.seen - passage.slept)
        return None

    async def _forward(self, request: web.BaseRequest, body: Body, passage: Passage) -> web.StreamResponse:
        """What a server answered, or that none did, sent."""
        load = {**self._load(passage), **readable(passage)}
        ask = partial(self._ask, request, body, load, passage.variant)
        try:
            upstream = await ask()
        except UpstreamFailure as failure:
            await body.drain()
            return await send(request, error_answer(failure.status, str(failure)))
        if passage.loads:
            settle_loads(passage.loads, upstream)
        try:
            if self._filtering.holds(upstream, passage):
                return await self._filtering.pass_held(request, upstream, passage, ask)
            return await self._pass_on(request, upstream, passage)
        finally:
            upstream.close()

    async def _links(self, request: web.BaseRequest, visit: Visit, body: Body, passage: Passage) -> list[Link]:
        """The links of a request, from the windows that are open as it arrives.

        Its body is read first where a fault wants to see it, or where it has no other name than its body.
        """
        chain, config = self._run.chain, self._run.config
        facts = RequestFacts(request.path, request.headers)
        wishes = note_wishes(request, visit, config, facts)
        passage.variant = wishes.variant
        faults = (*config.faults_of(visit.phase), *wishes.faults)
        windows = {**chain.open_windows(faults), **wishes.windows(visit.seen)}
        if config.filters or (faults and (visit.id is None or any(fault.reads_body() for fault in faults))):
            facts = await self._read(visit, body, passage, facts)
        passage.facts = facts
        name = visit.phase if visit.id is None else visit.id.text
        visit.guarded = not passes_unguarded(config.unguarded, config.seed, name)
        links, visit.touches = chain.links(faults, windows, name, facts)
        return links

    async def _read(self, visit: Visit, body: Body, passage: Passage, facts: RequestFacts) -> RequestFacts:
        """What the body tells, read whole."""
        read = await body.read_object()
        self._name(visit, body)
        if isinstance(read, str):
            passage.unreadable = read
            return facts
        passage.prompt = read_prompt(read)
        return replace(facts, body=read)

    def _load(self, passage: Passage) -> Mapping[str, str]:
        """The headers of what the engine has to carry out; none after a halt, however long the request was held."""
        if self._run.chain.halted:
            drop_loads(passage.loads)
            return {}
        return load_headers(passage.loads, passage.shared, self._token)

    async def _ask(
        self, request: web.BaseRequest, body: Body, load: Mapping[str, str], variant: str | None
    ) -> aiohttp.ClientResponse:
        """The head of the response of the first server that can be connected to; UpstreamFailure when none answers."""
        upstreams, tried = self._run.upstreams, list[tuple[Server, Exception]]()
        headers = self._headers(request, body, load)
        for server in upstreams.choose(variant):
            try:
                answer = await self._send_on(request, body, headers, server)
            except NOT_CONNECTED as error:
                upstreams.failed(server)
                tried.append((server, error))
            except (aiohttp.ClientError, OSError) as error:
                upstreams.connected(server)
                raise UpstreamFailure([*tried, (server, error)]) from error
            else:
                upstreams.connected(server)
                return answer
        raise UpstreamFailure(tried)

    def _headers(self, request: web.BaseRequest, body: Body, load: Mapping[str, str]) -> CIMultiDict[str]:
        headers = request_headers(request.headers)
        headers.update(load)
        if body.replaced is not None:
            headers[hdrs.CONTENT_LENGTH] = str(len(body.replaced))
        return headers

    async def _send_on(
        self, request: web.BaseRequest, body: Body, headers: CIMultiDict[str], server: Server
    ) -> aiohttp.ClientResponse:
        target = request.raw_path if request.raw_path.startswith("/") else request.rel_url.raw_path_qs
        wait, url = self._run.config.timeouts.first_byte, URL(server.url + target, encoded=True)

        async def exchange() -> aiohttp.ClientResponse:
            data = (body.in_one_piece() or body.chunks()) if body.exists else None
            return await self._session.request(request.method, url, headers=headers, data=data, allow_redirects=False)

        if wait is None:
            return await exchange()
        async with first_byte(wait, body):
            return await exchange()

    async def _pass_on(
        self, request: web.BaseRequest, upstream: aiohttp.ClientResponse, passage: Passage
    ) -> web.StreamResponse:
        editing = editing_of(upstream, passage.edits)
        response = PassThrough(upstream, at_hand(upstream) if editing is None else b"")
        if hdrs.LOCATION in response.headers:
            lead_back(response.headers, (server.url for server in self._run.upstreams.all))
        if editing is not None:
            response.headers.popall(hdrs.CONTENT_LENGTH, None)
        await response.prepare(request)
        try:
            if editing is None:
                await relay(upstream, response, self._run.config.timeouts.idle)
            elif not await relay_edited(upstream, response, editing, self._run):
                raise UpstreamBroken
        except UpstreamBroken:
            break_off(request)
            return response
        await response.write_eof()
        return response

    def _name(self, visit: Visit, body: Body) -> RequestId:
        """The request's id: the one that its client gave it, else one of its `body`, as far as that was read."""
        if visit.id is None:
            digest = body.digest()
            visit.id = anonymous_id(digest, self._run.ledger.occurrence(digest))
        return visit.id

    def _finish(self, visit: Visit, body: Body, repeat: int) -> None:
        self._run.ledger.finish(visit, self._name(visit, body), repeat, self._run.clock.now())
        for touch in visit.touches:
            if touch.applied and touch.window is not None and touch.window.dose > 0:
                self._run.metrics.injected(touch.kind, body.model())


def upstream_session(config: GatewayConfig) -> aiohttp.ClientSession:
    """A client session that changes nothing: no cookies, redirects, decompression or headers of its own.

    UsageError where the files that `tls` names cannot be used.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS, ssl=client_context(config.tls)),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=config.timeouts.connect),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        skip_auto_headers=(hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE),
        max_line_size=MAX_HEADER,
        max_field_size=MAX_HEADER,
    )


async def _refuse(request: web.BaseRequest, why: str) -> web.StreamResponse:
    """Answer 400 and end the connection: what follows on it may be no request."""
    request.protocol.close()
    return await send(request, error_answer(400, why, headers={"Connection": "close"}))


async def _end(request: web.BaseRequest, body: Body, ending: Reply | Reset) -> web.StreamResponse:
    """End a request at the gateway, after its body was read: a client that still writes would not see the answer."""
    await body.drain()
    if isinstance(ending, Reply):
        return await send(request, json_answer(ending.status, ending.body, ending.headers))
    reset(request)
    return web.Response(status=CLIENT_LEFT)
