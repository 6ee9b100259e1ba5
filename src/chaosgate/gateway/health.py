"""The active check of the servers behind a gateway: each is asked for its health again and again."""

from __future__ import annotations

import asyncio

import aiohttp
from yarl import URL

from chaosgate.gateway.upstreams import Server, Upstreams

EVERY_SECONDS = 2.0
"""The pause between two checks of a server; kubelet's default is 10 s, which is a whole window of a drill."""
PATIENCE_SECONDS = 1.0
"""How long a check waits, kubelet's default."""


async def watch(upstreams: Upstreams, session: aiohttp.ClientSession, path: str) -> None:
    """Check all servers until cancelled: one that answers GET `path` with a status below 400 is well, no other is."""
    while True:
        await asyncio.gather(*(_check(upstreams, server, session, path) for server in upstreams.all))
        await asyncio.sleep(EVERY_SECONDS)


async def _check(upstreams: Upstreams, server: Server, session: aiohttp.ClientSession, path: str) -> None:
    timeout = aiohttp.ClientTimeout(total=PATIENCE_SECONDS)
    try:
        async with session.get(URL(server.url + path, encoded=True), timeout=timeout, allow_redirects=False) as answer:
            well = answer.status < 400
    except (aiohttp.ClientError, OSError):
        well = False
    if well:
        upstreams.recovered(server)
    else:
        upstreams.failed(server)
