"""A server on loopback that plays a script."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from scripted_chat import Handler, Serve


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts a server that answers every request with the handler; gives its address."""
    servers: list[TestServer] = []

    async def start(handler: Handler) -> str:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handler)
        server = TestServer(app, host="127.0.0.1")
        await server.start_server(shutdown_timeout=0.1)
        servers.append(server)
        return str(server.make_url("/")).rstrip("/")

    yield start
    for server in servers:
        await server.close()
