"""A gateway that serves: both ports open, until it is closed."""

from __future__ import annotations

import asyncio
import socket
from types import TracebackType
from typing import Any

from aiohttp import web

from chaosgate.gateway.admin import Admin
from chaosgate.gateway.admission import admitting, connection_limit
from chaosgate.gateway.health import watch
from chaosgate.gateway.proxy import MAX_HEADER, Proxy, upstream_session
from chaosgate.gateway.quiet_log import quiet_logger
from chaosgate.gateway.request import data_request
from chaosgate.gateway.state import RunState
from chaosgate.servers import BACKLOG, url_of
from chaosgate.tokens import engine_token

SHUTDOWN_SECONDS = 0.5
"""How long requests under way may take to end once the gateway is told to stop."""

HEAD_SECONDS = 30.0
"""How long a connection may be open without a whole head of a request, the first or the next one. Clients that dribble
their heads to keep connections busy (slowloris) end there; so do idle ones, which pools expect after 5 s and more."""

Runner = web.AppRunner | web.ServerRunner


class Gateway:
    """Serves `run` on two listening sockets while it is entered; both are closed at the end, and where it cannot start.

    UsageError where the configuration names files that cannot be used.
    """

    def __init__(self, run: RunState, data: socket.socket, admin: socket.socket, token: str) -> None:
        self.run = run
        self.url = url_of(data)
        self.admin_url = url_of(admin)
        self.max_connections = connection_limit()
        """Connections that each port has at most."""
        self._data = data
        self._admin = admin
        self._token = token
        self._runners: list[Runner] = []
        self._listening: list[asyncio.Server] = []
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Gateway:
        config = self.run.config
        try:
            self._session = upstream_session(config)
        except BaseException:
            self._data.close()
            self._admin.close()
            raise
        if config.health_path is not None:
            self._watching = asyncio.create_task(watch(self.run.upstreams, self._session, config.health_path))
        proxy = Proxy(self.run, self._session, engine_token(self._token))
        data = web.Server(proxy.answer, request_factory=data_request, **_limits())
        await self._serve(web.ServerRunner(data, shutdown_timeout=SHUTDOWN_SECONDS), self._data)
        admin = Admin(self.run, self._token).application()
        await self._serve(web.AppRunner(admin, shutdown_timeout=SHUTDOWN_SECONDS, **_limits()), self._admin)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watching is not None:
            self._watching.cancel()
        self.run.sleepers.release()
        for listening in self._listening:
            listening.close()
        for runner in self._runners:
            await runner.cleanup()
        await self._session.close()

    async def _serve(self, runner: Runner, listener: socket.socket) -> None:
        await runner.setup()
        self._runners.append(runner)
        assert runner.server is not None, "a runner has its server once it is set up"
        factory = admitting(runner.server, self.max_connections)
        loop = asyncio.get_running_loop()
        self._listening.append(await loop.create_server(factory, sock=listener, backlog=BACKLOG))


def _limits() -> dict[str, Any]:
    """What both ports are told."""
    return {
        "access_log": None,
        "logger": quiet_logger(),
        # A handler is cancelled when its client leaves, or the request would go on upstream with nobody to read it.
        "handler_cancellation": True,
        "auto_decompress": False,
        "max_line_size": MAX_HEADER,
        "max_field_size": MAX_HEADER,
        "keepalive_timeout": HEAD_SECONDS,
    }
