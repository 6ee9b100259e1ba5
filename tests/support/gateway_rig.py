"""Real servers on loopback for tests of the gateway: a scripted upstream, the gateway in front of it, raw clients."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web

from chaosgate.gateway.config import GatewayConfig
from chaosgate.gateway.server import Gateway
from chaosgate.gateway.state import RunState
from chaosgate.servers import listen

TOKEN = "a-token-for-tests"
SEED = 7
CHAT = "/v1/chat/completions"

Script = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def echo(request: web.Request) -> web.StreamResponse:
    """Answers with the body it was sent."""
    return web.Response(body=await request.read(), headers={"X-Upstream": "echo"})


def streaming(events: Sequence[bytes], headers: Mapping[str, str] | None = None) -> Script:
    """An upstream that answers with these raw events."""

    async def script(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **(headers or {})})
        await response.prepare(request)
        for event in events:
            await response.write(event)
        await response.write_eof()
        return response

    return script


def token_events(count: int) -> list[bytes]:
    """So many content events and the final one."""
    return [f"data: token {number}\n\n".encode() for number in range(count)] + [b"data: [DONE]\n\n"]


@asynccontextmanager
async def upstream(script: Script = echo, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server that answers every request with `script`; gives its base URL."""
    application = web.Application(client_max_size=1 << 28)
    application.router.add_route("*", "/{path:.*}", script)
    runner = web.AppRunner(
        application, access_log=None, handler_cancellation=True, auto_decompress=False, shutdown_timeout=0.1
    )
    await runner.setup()
    listener = listen("127.0.0.1", 0)
    await web.SockSite(runner, listener, ssl_context=tls).start()
    try:
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def raw_upstream(answer: bytes) -> AsyncIterator[str]:
    """A server that reads a request's head, sends `answer` byte for byte and closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def gateway(
    upstream_url: str,
    faults: Sequence[Mapping[str, Any]] = (),
    phases: Mapping[str, Sequence[str]] | None = None,
    limits: Mapping[str, int] | None = None,
    connections: int | None = None,
    **settings: Any,
) -> Gateway:
    """A gateway to enter. Without `phases`: baseline without faults and block1 with all of them.

    `limits` are those of RunState, `settings` are further keys of the configuration, and `connections` is how many
    each port may have.
    """
    names = [fault["name"] for fault in faults]
    config = GatewayConfig.model_validate(
        {
            "upstream": upstream_url,
            "run": "run-1",
            "spec": "sha256:abc",
            "seed": SEED,
            "phases": phases or {"baseline": [], "block1": names},
            "faults": list(faults),
            **settings,
        }
    )
    served = Gateway(RunState(config, **(limits or {})), listen("127.0.0.1", 0), listen("127.0.0.1", 0), TOKEN)
    if connections is not None:
        served.max_connections = connections
    return served


def _fault(name: str, kind: str, parameter: str, value: str, share: str, **fields: Any) -> dict[str, Any]:
    sweep = {"parameter": parameter, "values": [value], "hold": "2s", "washout": "500ms"}
    return {"name": name, "kind": kind, "dose": sweep, "select": {"share": share}, **fields}


def latency(name: str = "slow", share: str = "100 %", **fields: Any) -> dict[str, Any]:
    """A wire.latency fault."""
    return _fault(name, "wire.latency", "delay", "100ms", share, **fields)


def error(name: str = "bad", share: str = "100 %", **fields: Any) -> dict[str, Any]:
    """A wire.error fault."""
    return _fault(name, "wire.error", "probability", "10 %", share, **fields)


def cut(name: str = "cut", share: str = "100 %", **fields: Any) -> dict[str, Any]:
    """A stream.cut fault."""
    return _fault(name, "stream.cut", "probability", "10 %", share, **fields)


def overwrite(name: str = "over", share: str = "100 %", **fields: Any) -> dict[str, Any]:
    """A kv.token-overwrite fault, which the engine has to carry out."""
    return _fault(name, "kv.token-overwrite", "share", "10 %", share, **fields)


def drift(name: str = "drift", **fields: Any) -> dict[str, Any]:
    """An embedding.temporal-drift fault, which gives every request another part of its dose."""
    return {**_fault(name, "embedding.temporal-drift", "sigma", "1", "100 %", **fields)} | {
        "dose": {"parameter": "sigma", "values": [1], "hold": "2s", "washout": "500ms"}
    }


def named(number: int, phase: str = "block1") -> dict[str, str]:
    """The header that names a request."""
    return {"X-Chaosgate-Request": f"{SEED}.{phase}.{number}"}


async def ask(url: str, body: bytes = b"{}", headers: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    """POST to the chat path on a connection of its own; status and body."""
    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        session.post(url + CHAT, data=body, headers=headers) as response,
    ):
        return response.status, await response.read()


async def raw(url: str, request: bytes) -> bytes:
    """Send `request` byte for byte and return every byte until the server closes."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(request)
    try:
        return await reader.read()
    finally:
        writer.close()


def raw_post(headers: Mapping[str, str] | None = None, version: str = "1.1") -> bytes:
    """A request for `raw` that asks the server to close afterwards."""
    lines = [f"{name}: {value}" for name, value in (headers or {}).items()]
    head = [f"POST {CHAT} HTTP/{version}", "Host: gateway", "Connection: close", "Content-Length: 2", *lines]
    return "\r\n".join([*head, "", "{}"]).encode()


async def until(holds: Callable[[], object]) -> None:
    """Return as soon as `holds` does; a TimeoutError when it never does."""
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 (the gateway has no events for tests to wait on)
            await asyncio.sleep(0.001)


async def settled(served: Gateway) -> list[dict[str, Any]]:
    """The ledger's rows once no request is under way."""
    await until(lambda: not served.run.ledger.unfinished())
    return [json.loads(line) for line in served.run.ledger.lines()]
