"""What is refused before or instead of an answer, all in OpenAI's form."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from aiohttp import web
from aiohttp.typedefs import Handler

from chaosgate.engine.api.errors import ApiError, unexpected
from chaosgate.engine.api.limits import Limits
from chaosgate.engine.api.streams import json_response
from chaosgate.engine.runtime.engine import RequestFailedError
from chaosgate.engine.runtime.scheduler import EngineDeadError, QueueFullError
from chaosgate.errors import ChaosgateError, UsageError

_BY_ENGINE: Mapping[type[ChaosgateError], tuple[int, str]] = {
    QueueFullError: (503, "queue_full"),
    EngineDeadError: (503, "engine_dead"),
    RequestFailedError: (500, "request_failed"),
}
ENGINE_REFUSALS: tuple[type[ChaosgateError], ...] = (UsageError, *_BY_ENGINE)
"""What the engine raises for a request in place of an answer. A UsageError is one that can never be answered."""

CODES = {404: "not_found", 405: "method_not_allowed"}


async def read_bounded(request: web.Request, limits: Limits) -> bytes:
    """The body of a request; ApiError for one that is too large, comes too slowly, or cannot be unpacked."""
    # What is announced as too large is refused before the first byte of it is read.
    if (request.content_length or 0) > limits.body_bytes:
        raise _too_large(f"{request.content_length} bytes", limits)
    try:
        async with asyncio.timeout(limits.body_seconds):
            return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise _too_large("more than that", limits) from error
    except TimeoutError as error:
        raise ApiError(
            f"the body did not arrive whole within {limits.body_seconds:g} s; send it faster",
            status=408,
            code="body_too_slow",
        ) from error
    except web.RequestPayloadError as error:
        raise ApiError(
            "the body broke off or is not packed as Content-Encoding and Transfer-Encoding say; send it as plain JSON",
            code="invalid_body",
        ) from error


def _too_large(got: str, limits: Limits) -> ApiError:
    return ApiError(
        f"the body may have at most {limits.body_bytes} bytes, got {got}; shorten the prompt: a text of that size does"
        " not fit into the model's context by far",
        status=413,
        code="body_too_large",
    )


def engine_refusal(error: ChaosgateError) -> ApiError:
    """What the engine itself says of a request, one of ENGINE_REFUSALS: 503 where another engine might take it."""
    if isinstance(error, UsageError):
        return ApiError(str(error), code="invalid_value")
    status, code = next(answer for kind, answer in _BY_ENGINE.items() if isinstance(error, kind))
    return ApiError(str(error), status=status, kind="server_error", code=code)


@web.middleware
async def openai_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers refusals, the framework's own too, with OpenAI's error object."""
    try:
        return await handler(request)
    except ApiError as error:
        refusal = error
    except web.HTTPException as error:
        message = _framework_message(request, error)
        refusal = ApiError(message, status=error.status, code=CODES.get(error.status, "http_error"))
    except Exception as error:  # noqa: BLE001  whatever it is, this is where the client is told
        refusal = unexpected(error, f"{request.method} {request.path}")
    response = json_response(refusal.body(), refusal.status)
    if refusal.code == "queue_full":
        response.headers["Retry-After"] = "1"
    return response


def _framework_message(request: web.Request, error: web.HTTPException) -> str:
    if error.status == 404:
        known = sorted({resource.canonical for resource in request.app.router.resources()})
        return f"no such path: {request.method} {request.path}; known: {', '.join(known)}"
    if error.status == 405:
        return f"{request.path} does not take {request.method}"
    return error.text or error.reason
