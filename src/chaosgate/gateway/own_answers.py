"""What the gateway itself answers, in the place of a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web
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


async def send(request: web.Request, response: web.Response) -> web.Response:
    """`response`, once all of it is sent: what happens after that can no longer change it."""
    await response.prepare(request)
    await response.write_eof()
    return response
