"""What clients and servers do to a proxy: they leave at any moment, keep connections, answer early, lead elsewhere."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from aiohttp import web
from gateway_rig import CHAT, ask, gateway, latency, named, raw_post, settled, streaming, upstream
from stream_rig import DONE, chat
from test_gateway_connections import connect

from chaosgate.gateway.server import Gateway
from chaosgate.model.fault import FAULTS

ATOMS = Path(__file__).parents[3] / "chaos-specs" / "atoms"
FOREVER = 60.0


def atom(kind: str) -> dict[str, Any]:
    """The fault of the kind's atom, for every request."""
    fault: dict[str, Any] = yaml.safe_load((ATOMS / f"{kind}.yaml").read_text())["spec"]["faults"][0]
    return {**fault, "select": {"share": "100 %"}}


@asynccontextmanager
async def at_full_dose(url: str, fault: Mapping[str, Any], dose: float, **settings: Any) -> AsyncIterator[Gateway]:
    async with gateway(url, [fault], **settings) as served:
        served.run.windows.open(str(fault["name"]), 0, dose, FOREVER)
        yield served


async def leave_after(served: Gateway, count: int) -> None:
    """Read `count` bytes of the answer and abort the connection."""
    reader, writer = await connect(served.url)
    writer.write(raw_post(named(1)))
    await reader.readexactly(count) if count else await asyncio.sleep(0.1)
    writer.transport.abort()


async def test_a_client_that_leaves_while_it_is_held_never_reaches_the_server() -> None:
    asked: list[str] = []

    async def script(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        return web.Response()

    async with upstream(script) as url, at_full_dose(url, latency(), FOREVER) as served:
        await leave_after(served, 0)
        (row,) = await settled(served)
        assert (row["applied"], asked) == (True, [])
        assert re.fullmatch(r"delay 60\.000 s, client left after 0\.\d{3} s", row["effect"])
        assert 'requests_total{code="499"} 1' in served.run.metrics.render()


@pytest.mark.parametrize(
    "filters", [[], [{"kind": "output-validator"}]], ids=["stalled by a fault", "held by a filter"]
)
async def test_a_client_that_leaves_a_stream_that_pauses_frees_the_server(filters: list[dict[str, Any]]) -> None:
    ended, body = asyncio.Event(), b'{"stream": true, "messages": [], "response_format": {"type": "json_object"}}'

    async def script(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            for number in range(8):
                await response.write(chat(f"{number}"))
            await asyncio.Event().wait()
        finally:
            ended.set()
        return response

    async with upstream(script) as url, at_full_dose(url, atom("stream.stall"), FOREVER, filters=filters) as served:
        async with aiohttp.ClientSession() as session:
            asking = asyncio.ensure_future(session.post(served.url + CHAT, data=body, headers=named(1)))
            await asyncio.sleep(0.2)
            asking.cancel()
        await asyncio.wait_for(ended.wait(), 10)
        await settled(served)


@pytest.mark.parametrize("kind", [name for name in FAULTS.names() if name.startswith("stream.")])
async def test_keep_alives_pass_a_fault_that_waits_for_the_next_token(kind: str) -> None:
    seen = asyncio.Queue[bytes]()

    async def script(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for number in range(6):
            await response.write(chat(f" word {number}"))
            await response.write(b": beat %d\n\n" % number)
            while b": beat %d\n\n" % number not in await seen.get():
                pass
        await response.write(DONE)
        return response

    async with (
        upstream(script) as url,
        at_full_dose(url, atom(kind), 0.5 if kind != "stream.stall" else 0.01) as served,
        aiohttp.ClientSession() as session,
        asyncio.timeout(10),
    ):
        async with session.post(served.url + CHAT, data=b"{}", headers=named(1)) as response:
            got = b""
            try:
                async for chunk in response.content.iter_any():
                    got += chunk
                    seen.put_nowait(got)
            except aiohttp.ClientPayloadError:
                pass
        await settled(served)


async def test_a_fault_that_comes_and_goes_meets_connections_that_are_kept() -> None:
    async with upstream() as url, gateway(url, [atom("wire.error")]) as served, aiohttp.ClientSession() as session:
        name, statuses = str(atom("wire.error")["name"]), []
        for number in range(3):
            if number == 1:
                served.run.windows.open(name, 0, 1.0, FOREVER)
            async with session.post(served.url + CHAT, data=b"{}", headers=named(number)) as answer:
                statuses.append(answer.status)
                await answer.read()
            served.run.windows.close(name)
        assert statuses == [200, 503, 200]


async def test_a_session_goes_on_after_a_reset() -> None:
    fault = atom("wire.reset")
    async with upstream() as url, at_full_dose(url, fault, 1.0) as served, aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientError):
            await session.post(served.url + CHAT, data=b"{}", headers=named(1))
        served.run.windows.close(str(fault["name"]))
        async with session.post(served.url + CHAT, data=b"{}", headers=named(2)) as answer:
            assert answer.status == 200


async def test_a_server_that_refuses_a_body_before_it_was_sent_is_heard() -> None:
    answered = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nless")
        # Closing at once would send a reset, which may overtake the answer.
        await answered.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1024)
    async with server, gateway(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as served:
        got = await asyncio.wait_for(ask(served.url, bytes(8 * 1024 * 1024)), 10)
        answered.set()
    assert got == (413, b"less")


@pytest.mark.parametrize("dose", [0.0, 1.0])
async def test_a_stream_that_is_to_be_edited_is_asked_for_as_it_can_be_read(dose: float) -> None:
    encodings: list[str | None] = []

    async def script(request: web.Request) -> web.StreamResponse:
        encodings.append(request.headers.get("Accept-Encoding"))
        return await streaming([chat("a"), DONE])(request)

    headers = {"Accept-Encoding": "gzip, br"}
    async with upstream(script) as url, at_full_dose(url, atom("stream.stall"), dose) as served:
        await ask(served.url, headers={**headers, **named(1)})
        await ask(served.url, headers={**headers, **named(1, "baseline")})
    assert encodings == ["identity", "gzip, br"]


@pytest.mark.parametrize(
    ("base", "location", "passed"),
    [
        ("", "{}/v1/models", "/v1/models"),
        ("", "{}/v1/models?a=1#b", "/v1/models?a=1#b"),
        ("", "{}", "/"),
        ("/api", "{}/api/v1/models", "/v1/models"),
        ("/api", "{}/other/v1", "{}/other/v1"),
        ("/api", "{}/apis", "{}/apis"),
        ("", "{}0/v1/models", "{}0/v1/models"),
        ("", "{}@elsewhere/", "{}@elsewhere/"),
        ("", "/v1/models", "/v1/models"),
        ("", "https://elsewhere.example/v1/models", "https://elsewhere.example/v1/models"),
    ],
)
async def test_a_redirect_to_the_server_itself_leads_through_the_gateway(base: str, location: str, passed: str) -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": location.format(f"http://{request.host}")})

    async with (
        upstream(script) as url,
        gateway(url + base) as served,
        aiohttp.ClientSession() as session,
        session.get(served.url + "/v1/models/", allow_redirects=False) as answer,
    ):
        assert (answer.status, answer.headers["Location"]) == (307, passed.format(url))
