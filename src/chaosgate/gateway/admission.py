"""How many connections a port of the gateway has at once: the next one is told that there are too many."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import Callable, Sized
from typing import Protocol, cast

from chaosgate.model.openai_error import openai_error

MAX_CONNECTIONS = 8192
"""Connections one port has at most, where the process may have files enough."""
_SPARE_FILES = 64
FILES = 2 * MAX_CONNECTIONS + _SPARE_FILES
"""Open files that so many connections need: a request takes one either side."""
_LINGER_SECONDS = 1.0

_MESSAGE = "the gateway has as many connections as it may have; close some, or start it with a higher `ulimit -n`"
_BODY = json.dumps(openai_error(_MESSAGE, "gateway_error")).encode()
_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)


class ConnectionHandlers(Protocol):
    """What makes the handler of a new connection and knows those there are, as aiohttp's `web.Server`."""

    @property
    def connections(self) -> Sized:
        """The handlers of open connections."""

    def __call__(self) -> asyncio.BaseProtocol:
        """A handler for one more."""


def connection_limit() -> int:
    """MAX_CONNECTIONS, or fewer where the process may not open so many files: a request needs one either side."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        MAX_CONNECTIONS
        if files == resource.RLIM_INFINITY
        else max(1, min(MAX_CONNECTIONS, (files - _SPARE_FILES) // 2))
    )


def admitting(handlers: ConnectionHandlers, limit: int) -> Callable[[], asyncio.BaseProtocol]:
    """A protocol factory: `handlers` for as many connections as `limit`, for each one more a 503 and its end."""
    return lambda: handlers() if len(handlers.connections) < limit else _Refusal()


class _Refusal(asyncio.Protocol):
    """Answers 503 whatever is sent."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        connection = cast(asyncio.Transport, transport)
        connection.write(_ANSWER)
        # Closing before the request was read would send a reset, which can overtake the answer.
        connection.write_eof()
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, connection.close)
