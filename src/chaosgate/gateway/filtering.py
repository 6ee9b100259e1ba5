"""The filters of a run: what they make of a request once its faults are through, and of its answer.

They act on every request of every phase that the spec does not leave unguarded, also after a halt. A request that one
of them ends does not go upstream; an answer that one of them judges is held until it is whole. Each thing that a
filter does is counted and stands in the ledger. A request that is asked again for its answer stays one request there:
its row tells how often.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import aiohttp
from aiohttp import hdrs, web

from chaosgate.gateway.body import Body
from chaosgate.gateway.canned import canned_answer
from chaosgate.gateway.held_answer import HeldAnswer
from chaosgate.gateway.own_answers import error_answer, send
from chaosgate.gateway.passage import Passage, PlannedEdit
from chaosgate.gateway.state import RunState
from chaosgate.gateway.stream import PassThrough, UpstreamBroken, break_off, editing_of, relay, relay_edited
from chaosgate.gateway.upstreams import UpstreamFailure
from chaosgate.model.content_coding import content_coding
from chaosgate.model.filter import Answered, Asked, Filter, Finding, Refused, Repaired, Retry, Rewritten

MAX_HELD = 32 * 1024 * 1024
"""Bytes of an answer that are held; a longer one is refused."""
MOST_RETRIES = 5
"""How often a server is asked again for one request, whatever a filter says."""
_TOO_LONG = Refused(502, f"the model's answer is longer than {MAX_HELD} bytes; ask for less", "answer_too_long")
_HELD_TYPES = ("application/json", "text/event-stream")

Ask = Callable[[], Awaitable[aiohttp.ClientResponse]]


class Filtering:
    """Applies the filters of one run."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._filters = run.config.filters

    async def end_here(self, request: web.BaseRequest, body: Body, passage: Passage) -> web.Response | None:
        """Show the request to every filter; the response that one of them gave, sent, or None when all let it pass.

        What they rewrote stands in `passage`.
        """
        for one in self._filters:
            response = self._check(one, self._asked(body, passage), passage)
            if response is not None:
                passage.drop(one.kind)
                await body.drain()
                return await send(request, response)
        self._choose_judges(body, passage)
        return None

    def holds(self, upstream: aiohttp.ClientResponse, passage: Passage) -> bool:
        """Whether the answer is held back: somebody judges it, and it is a whole one and no error."""
        if not passage.judges or upstream.status != 200:
            return False
        packed = content_coding(upstream.headers.getall(hdrs.CONTENT_ENCODING, ())) is not None
        if packed or upstream.content_type not in _HELD_TYPES:
            self._unread(passage, "the answer is compressed" if packed else f"the answer is {upstream.content_type}")
            return False
        return True

    async def pass_held(
        self, request: web.BaseRequest, upstream: aiohttp.ClientResponse, passage: Passage, ask: Ask
    ) -> web.StreamResponse:
        """Send the answer once it was judged; `ask` gets another one where a filter wants that."""
        edits: Sequence[PlannedEdit] = passage.edits
        for attempt in range(MOST_RETRIES + 1):
            try:
                answered = await self._attempt(request, upstream, passage, edits, attempt)
            finally:
                upstream.close()
            if answered is not None:
                return answered
            try:
                upstream, edits = await ask(), ()
            except UpstreamFailure as failure:
                return await send(request, error_answer(failure.status, str(failure)))
        raise AssertionError("the last attempt is never retried")

    async def _attempt(
        self,
        request: web.BaseRequest,
        upstream: aiohttp.ClientResponse,
        passage: Passage,
        edits: Sequence[PlannedEdit],
        attempt: int,
    ) -> web.StreamResponse | None:
        """What was sent to the client for one answer; None where another one is to be had."""
        try:
            body, whole = await self._collect(upstream, edits)
        except _TooLong:
            return await send(request, _refusal(_TOO_LONG))
        if not whole:
            return await _send_broken(request, upstream, body)
        match self._judge(upstream, body, passage, attempt):
            case Refused() as refused:
                return await send(request, _refusal(refused))
            case Retry():
                return None
            case judged:
                return await _send_whole(request, upstream, judged)

    def _asked(self, body: Body, passage: Passage) -> Asked:
        return Asked(passage.facts, passage.prompt, body.size, tuple(passage.found))

    def _check(self, one: Filter, asked: Asked, passage: Passage) -> web.Response | None:
        """The response that a filter gives to a request; None where it lets it pass, maybe rewritten."""
        match one.check(asked):
            case Rewritten(prompt, detail, attack):
                passage.prompt = prompt
                self._note(passage, Finding(one.kind, "rewritten", detail, attack))
            case Answered(text, detail):
                self._note(passage, Finding(one.kind, "answered", detail))
                return canned_answer(asked.facts, text)
            case Refused() as refused:
                self._note(passage, Finding(one.kind, "refused", refused.message))
                return _refusal(refused)
        return None

    def _choose_judges(self, body: Body, passage: Passage) -> None:
        asked = self._asked(body, passage)
        passage.judges = [one for one in self._filters if one.holds(asked)]
        if passage.judges and not body.keep():
            self._unread(passage, passage.unreadable)
            passage.judges = []

    async def _collect(self, upstream: aiohttp.ClientResponse, edits: Sequence[PlannedEdit]) -> tuple[bytes, bool]:
        """The body of a response behind the editors, and whether it came to its end."""
        held, editing = _Held(), editing_of(upstream, edits)
        try:
            if editing is not None:
                whole = await relay_edited(upstream, held, editing, self._run)
                return bytes(held.data), whole
            await relay(upstream, held, self._run.config.timeouts.idle)
        except UpstreamBroken:
            return bytes(held.data), False
        return bytes(held.data), True

    def _judge(
        self, upstream: aiohttp.ClientResponse, body: bytes, passage: Passage, attempt: int
    ) -> bytes | Retry | Refused:
        """What all judges make of a body: what is sent, or that it is asked for again or refused."""
        answer = HeldAnswer(body, upstream.content_type == "text/event-stream")
        read = text = answer.text
        if text is None:
            self._unread(passage, "the answer is no completion with one choice")
            return body
        for one in passage.judges:
            verdict = one.judge(text, attempt)
            match verdict:
                case Repaired(repaired, detail):
                    text = repaired
                    self._note(passage, Finding(one.kind, "repaired", detail))
                case Retry(why) if attempt < MOST_RETRIES:
                    self._note(passage, Finding(one.kind, "retried", why))
                    return verdict
                case Retry(why):
                    return self._refused(one, passage, Refused(502, f"no answer was valid: {why}"))
                case Refused():
                    return self._refused(one, passage, verdict)
        return body if text == read else answer.with_text(text)

    def _refused(self, one: Filter, passage: Passage, refused: Refused) -> Refused:
        self._note(passage, Finding(one.kind, "refused", refused.message))
        return refused

    def _unread(self, passage: Passage, why: str) -> None:
        for one in passage.judges:
            self._note(passage, Finding(one.kind, "unread", why))

    def _note(self, passage: Passage, finding: Finding) -> None:
        passage.found.append(finding)
        self._run.metrics.filtered(finding.filter, finding.action)


class _TooLong(Exception):
    """An answer that is longer than what is held."""


class _Held(web.StreamResponse):
    """A response that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.data = bytearray()

    async def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep `data`; _TooLong once there is too much of it."""
        self.data += data
        if len(self.data) > MAX_HELD:
            raise _TooLong


def _refusal(refused: Refused) -> web.Response:
    return error_answer(refused.status, refused.message, refused.code)


async def _send_whole(request: web.BaseRequest, upstream: aiohttp.ClientResponse, body: bytes) -> web.StreamResponse:
    response = PassThrough(upstream, body)
    if response.headers.popall(hdrs.CONTENT_LENGTH, None) is not None:
        response.content_length = len(body)
    await response.prepare(request)
    await response.write_eof()
    return response


async def _send_broken(request: web.BaseRequest, upstream: aiohttp.ClientResponse, body: bytes) -> web.StreamResponse:
    """Pass on what came of an answer that broke off, and break off, too: there is nothing to judge."""
    response = PassThrough(upstream, body)
    await response.prepare(request)
    break_off(request)
    return response
