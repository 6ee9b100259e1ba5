"""What the gateway itself answers, in the place of a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import HttpVersion11, hdrs, web
from multidict import CIMultiDict

from chaosgate.model.openai_error import openai_error


def error_answer(
    status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None
) -> web.Response:
    """The HTTP error `status` in OpenAI's form; its type says whether the client is to blame or the gateway's side."""
    kind = "invalid_request_error" if status < 500 else "gateway_error"
    return json_answer(status, openai_error(message, kind, code), headers)


def json_answer(status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> web.Response:
    """`body` as JSON, with `headers` besides or in the place of Content-Type."""
    named = CIMultiDict({"Content-Type": "application/json"})
    named.update(headers or {})
    return web.Response(body=json.dumps(dict(body), allow_nan=False).encode(), status=status, headers=named)


async def send(request: web.BaseRequest, response: web.Response) -> web.Response:
    """`response`, once all of it is sent: what happens after that can no longer change it."""
    await response.prepare(request)
    await response.write_eof()
    return response


async def meet_expectation(request: web.BaseRequest) -> web.Response | None:
    """Tell a client that waits for it to go on with its body; a 417 for what it expects else (RFC 9110, 10.1.1)."""
    if request.version < HttpVersion11:
        return None
    expected = request.headers[hdrs.EXPECT]
    if expected.lower() != "100-continue":
        why = f"Expect: read {expected[:100]!r}; the only one met is 100-continue"
        return await send(request, error_answer(417, why))
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    # The response itself has not begun.
    request.writer.output_size = 0
    return None


def is_pathless(request: web.BaseRequest) -> bool:
    """Whether it names no path and so nothing behind the gateway: `OPTIONS *`, CONNECT (RFC 9110, 9.3.6 and 9.3.7)."""
    return not request.raw_path.startswith("/") and not request.rel_url.raw_path.startswith("/")


async def answer_pathless(request: web.BaseRequest) -> web.StreamResponse:
    """Answer a request that names no path."""
    if request.method == hdrs.METH_OPTIONS:
        return await send(request, web.Response(status=204))
    why = f"{request.method} {request.raw_path[:100]}: this is a gateway, no forward proxy; ask for a path such as /v1"
    return await send(request, error_answer(405 if request.method == hdrs.METH_CONNECT else 400, why))
