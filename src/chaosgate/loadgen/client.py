"""One streaming chat completion at a time, of many at once: whatever the server does becomes an outcome."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import aiohttp
import msgspec
from aiohttp.payload import BytesPayload
from yarl import URL

from chaosgate.errors import one_line
from chaosgate.loadgen.deadline import Deadlines
from chaosgate.loadgen.delta import read_chunk, read_event
from chaosgate.loadgen.trace import Call, PhaseClock, Trace
from chaosgate.model.observation import Outcome
from chaosgate.model.request_id import REQUEST_HEADER, SCHEDULED_HEADER
from chaosgate.prompts.prompt import Prompt
from chaosgate.sse import EventSplitter

CHAT_PATH = "/v1/chat/completions"

FIXED_HEADERS = {"Content-Type": "application/json", "Accept": "*/*"}
"""Headers that every request has, with these values."""
VARYING_HEADERS = frozenset(
    name.lower()
    for name in (REQUEST_HEADER, SCHEDULED_HEADER, "Host", "Content-Length", "User-Agent", "Accept-Encoding")
)
"""Headers, in small letters, that every request has, with values that only a run knows."""

MAX_SAID = 4096
"""Bytes of the body of an error that are read."""
KEPT_BODIES = 1024
"""Prompts whose requests are kept as they are sent: prompts are asked in turn, again and again."""
MAX_WHY = 200
"""Characters of a reason that are kept."""

KEEP_ALIVE = 4.0
"""Seconds an idle connection is kept: less than the 5 s after which uvicorn, vLLM's HTTP server, closes it.

A request sent on a connection that the server is just closing would count as a failure of the server.
"""


def open_session(headers: Mapping[str, str] | None = None) -> aiohttp.ClientSession:
    """The session of a phase: any number of connections, kept alive, no cookies, no time-out of its own.

    `headers` go with every request.
    """
    return aiohttp.ClientSession(
        headers=headers,
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
    )


class ChatClient:
    """Asks `model` behind `url` (the gateway's address, without /v1). `timeout` is in seconds for a whole request."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str,
        *,
        model: str,
        max_tokens: int,
        seed: int,
        timeout: float,
        clock: PhaseClock,
        texts: bool = False,
        logprobs: bool = False,
    ) -> None:
        """`texts`: whether observations hold what was answered; `logprobs`: whether the server is asked for them."""
        self._session = session
        # Read once: aiohttp would read the text again for every request.
        self._url = URL(url.rstrip("/") + CHAT_PATH)
        self._deadlines = Deadlines(timeout)
        self._clock = clock
        self._model = model
        self._body = {
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0,
            "max_tokens": max_tokens,
            "seed": seed,
            **({"logprobs": True} if logprobs else {}),
        }
        self._texts = texts
        self._bodies: dict[tuple[str | None, str], bytes] = {}

    def trace(self, call: Call) -> Trace:
        """The empty trace of `call`, on this client's clock."""
        return Trace(call, self._clock, self._texts)

    async def ask(self, trace: Trace) -> None:
        """Send the request of `trace` and settle it. Nothing that a server or network does raises.

        A whole answer stays one (`ok`) whatever the connection does afterwards. Cancelled, the trace is left as given
        up.
        """
        try:
            with self._deadlines.start():
                await self._exchange(trace)
            failure: Outcome = "cut"
        except (aiohttp.ClientError, OSError, ValueError) as error:
            failure, trace.why = outcome_of(error), why_of(error)
        trace.settle("ok" if trace.finished and failure in ("cut", "timeout") else failure)

    async def _exchange(self, trace: Trace) -> None:
        trace.stamp_sent()
        response = await self._session.post(
            self._url,
            data=BytesPayload(self._encoded_body(trace.call), content_type=FIXED_HEADERS["Content-Type"]),
            headers=_headers(trace.call),
            allow_redirects=False,
        )
        try:
            trace.status = response.status
            if response.status != 200:
                said = server_words(await response.content.read(MAX_SAID))
                raise ValueError(f"HTTP status {response.status}: {said}")
            await self._read(response.content, trace)
        finally:
            # What `async with` does, less its wait for a body that is long sent.
            response.release()

    async def _read(self, content: aiohttp.StreamReader, trace: Trace) -> None:
        """Read to the end of the body, past `[DONE]` too: only a connection read to its end can be used again."""
        splitter, now = EventSplitter(), self._clock.now
        while not content.at_eof() and (chunk := await content.readany()):
            at = now()
            trace.take(read_chunk(splitter, chunk), at)
        trace.take(map(read_event, splitter.close_data()), now())

    def _encoded_body(self, call: Call) -> bytes:
        """The body of the request, which is the same whenever its tenant asks this prompt."""
        name = call.tenant, call.prompt_name
        body = self._bodies.get(name)
        if body is None:
            body = _encoded(self._body_of(call))
            if len(self._bodies) < KEPT_BODIES:
                self._bodies[name] = body
        return body

    def _body_of(self, call: Call) -> dict[str, Any]:
        prompt = call.prompt
        body = {**addressed(self._model, prompt, call.tenant), **self._body, "messages": prompt.messages()}
        return body if prompt.max_tokens is None else {**body, "max_tokens": prompt.max_tokens}


def addressed(model: str, prompt: Prompt, tenant: str | None = None) -> dict[str, str]:
    """Whom a request asks, and for whom: `model`, and `user` where the prompt or the workload has a tenant."""
    if prompt.tenant is None:
        return {"model": model} if tenant is None else {"model": model, "user": tenant}
    # An adapter is a model of its own name, as vLLM serves it; `user` says who asks to whoever stands in between.
    return {"model": f"{model}:{prompt.tenant}", "user": prompt.tenant}


def _headers(call: Call) -> dict[str, str]:
    return {REQUEST_HEADER: call.request, SCHEDULED_HEADER: f"{call.scheduled:.6f}"}


def _encoded(body: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        # A lone surrogate in a prompt has no UTF-8; JSON can escape it.
        return json.dumps(body).encode()


def server_words(body: bytes) -> str:
    """What a server says in the body of an error, in one short line: its message, where it is JSON as OpenAI's."""
    text = body.decode("utf-8", "replace")
    message: Any = text
    with suppress(ValueError, AttributeError, RecursionError):
        data = json.loads(text)
        message = data.get("error", data.get("detail", data.get("message", text)))
        message = message.get("message", text) if isinstance(message, dict) else message
    return shortened(str(message)) or "no words"


def shortened(text: str) -> str:
    """`text` in one line of at most MAX_WHY characters."""
    line = one_line(text).strip()
    return line if len(line) <= MAX_WHY else line[: MAX_WHY - 3] + "..."


def why_of(error: Exception) -> str:
    """What went wrong with a request, in one short line."""
    return shortened(str(error)) or type(error).__name__


def outcome_of(error: Exception) -> Outcome:
    """What a request is called that ended with `error`."""
    match error:
        case TimeoutError():
            return "timeout"
        case aiohttp.ClientConnectorError():
            return "refused"
        case aiohttp.ClientResponseError() | ValueError():
            return "error"
        case _:
            return "cut"
