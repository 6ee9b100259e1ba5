"""An engine that serves in this process, on a socket of its own, for tests that look at both ends."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from chaosgate.engine.api.limits import Limits
from chaosgate.engine.api.server import Api
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.engine import Engine
from chaosgate.engine.serving import answering


@dataclass
class Rig:
    """The engine, its interface, a client, and where it listens."""

    engine: Engine
    api: Api
    http: aiohttp.ClientSession
    host: str
    port: int


@asynccontextmanager
async def serving(limits: Limits, send_buffer: int | None = None) -> AsyncIterator[Rig]:
    """Untrained weights, which answer every prompt at length; `send_buffer` bytes wait in the system for a client."""
    listener = socket.create_server(("127.0.0.1", 0))
    if send_buffer is not None:
        # Connections inherit it from the socket that accepts them.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    host, port = listener.getsockname()
    async with (
        answering(listener, EngineConfig(seed=7), limits) as (engine, api),
        aiohttp.ClientSession(f"http://{host}:{port}") as http,
    ):
        yield Rig(engine, api, http, host, port)
