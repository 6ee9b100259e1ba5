"""How long the gateway waits for the servers behind it. Models think long, so most of it has no end by default."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from pydantic import Field

from chaosgate.gateway.body import Body
from chaosgate.model.base import Frozen
from chaosgate.units import Duration

CONNECT_SECONDS = 10.0
"""How long a server may take to accept a connection, TLS included; SYNs are repeated after 1 s, 3 s and 7 s."""

Wait = Annotated[Duration, Field(gt=0, le=86400)]


class Timeouts(Frozen):
    """The longest waits; None waits for ever."""

    connect: Wait = CONNECT_SECONDS
    """For a connection. Then the next server is tried, if there is one; the client gets a 504 if there is none."""
    first_byte: Wait | None = None
    """For the head of the response, from the last byte of the request on. Then the client gets a 504."""
    idle: Wait | None = None
    """For the next bytes of a response that has begun. Then the client sees it broken off."""


@asynccontextmanager
async def first_byte(seconds: float, body: Body) -> AsyncIterator[None]:
    """A TimeoutError when what is inside takes `seconds` longer than sending `body`."""
    async with asyncio.timeout(None) as deadline:
        body.when_sent(lambda: deadline.reschedule(asyncio.get_running_loop().time() + seconds))
        yield
