"""A gateway that serves: both ports open, until it is closed."""

from __future__ import annotations

import socket
from types import TracebackType

from aiohttp import web

from chaosgate.gateway.admin import Admin
from chaosgate.gateway.proxy import MAX_HEADER, Proxy, upstream_session
from chaosgate.gateway.state import RunState
from chaosgate.servers import url_of
from chaosgate.tokens import engine_token

SHUTDOWN_SECONDS = 0.5
"""How long requests under way may take to end once the gateway is told to stop."""


class Gateway:
    """Serves `run` on two listening sockets while it is entered; both sockets are closed at the end."""

    def __init__(self, run: RunState, data: socket.socket, admin: socket.socket, token: str) -> None:
        self.run = run
        self.url = url_of(data)
        self.admin_url = url_of(admin)
        self._data = data
        self._admin = admin
        self._token = token
        self._runners: list[web.AppRunner] = []

    async def __aenter__(self) -> Gateway:
        self._session = upstream_session()
        await self._serve(Proxy(self.run, self._session, engine_token(self._token)).application(), self._data)
        await self._serve(Admin(self.run, self._token).application(), self._admin)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run.sleepers.release()
        for runner in self._runners:
            await runner.cleanup()
        await self._session.close()

    async def _serve(self, application: web.Application, listener: socket.socket) -> None:
        # A handler is cancelled when its client leaves, or the request would go on upstream with nobody to read it.
        runner = web.AppRunner(
            application,
            access_log=None,
            handler_cancellation=True,
            auto_decompress=False,
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
            shutdown_timeout=SHUTDOWN_SECONDS,
        )
        await runner.setup()
        self._runners.append(runner)
        await web.SockSite(runner, listener).start()
