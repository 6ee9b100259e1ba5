"""A gateway that serves: both ports open, until it is closed."""

from __future__ import annotations

import errno
import socket
from types import TracebackType

from aiohttp import web

from chaosgate.errors import UsageError
from chaosgate.gateway.admin import Admin
from chaosgate.gateway.proxy import MAX_HEADER, Proxy, upstream_session
from chaosgate.gateway.state import RunState

SHUTDOWN_SECONDS = 0.5
"""How long requests under way may take to end once the gateway is told to stop."""


class Gateway:
    """Serves `run` on two listening sockets while it is entered; both sockets are closed at the end."""

    def __init__(self, run: RunState, data: socket.socket, admin: socket.socket, token: str) -> None:
        self.run = run
        self.url = _url(data)
        self.admin_url = _url(admin)
        self._data = data
        self._admin = admin
        self._token = token
        self._runners: list[web.AppRunner] = []

    async def __aenter__(self) -> Gateway:
        self._session = upstream_session()
        await self._serve(Proxy(self.run, self._session).application(), self._data)
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


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, on any free port for 0; a UsageError says why the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {_authority(host, port)}: {_reason(error)}") from error


def _reason(error: OSError | OverflowError) -> str:
    if isinstance(error, OverflowError):
        return "a port is a number from 0 to 65535"
    if error.errno == errno.EADDRINUSE:
        return "address already in use; choose another port, or 0 for any free one"
    return (error.strerror or str(error)).lower()


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{_authority(host, port)}"


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
