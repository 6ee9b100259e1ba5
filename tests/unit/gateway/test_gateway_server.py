"""A port that is misused: slow heads, too many connections, malformed requests, and what is logged of them."""

from __future__ import annotations

import asyncio
import json
import logging
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from gateway_rig import CHAT, ask, gateway, latency, named, raw, raw_post, raw_upstream, settled, upstream

SECRET = "sk-never-in-a-log"


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    return await asyncio.open_connection(parts.hostname, parts.port)


@pytest.mark.parametrize("port", ["url", "admin_url"])
@pytest.mark.parametrize("sent", [b"", b"POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nX-Slow: "])
async def test_a_head_that_does_not_end_in_time_ends_the_connection(
    port: str, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chaosgate.gateway.server.HEAD_SECONDS", 0.3)
    async with upstream() as url, gateway(url) as served:
        reader, writer = await connect(getattr(served, port))
        writer.write(sent)

        async def dribble() -> None:
            while sent:
                writer.write(b"x")
                await asyncio.sleep(0.05)

        dribbling = asyncio.ensure_future(dribble())
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await asyncio.wait_for(reader.readexactly(1), 20)
        dribbling.cancel()
        writer.close()


async def test_the_head_of_a_second_request_has_to_end_in_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaosgate.gateway.server.HEAD_SECONDS", 0.3)
    async with upstream() as url, gateway(url) as served:
        reader, writer = await connect(served.url)
        writer.write(b"POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\n\r\n{}POST / HT")

        assert (await asyncio.wait_for(reader.read(), 20)).endswith(b"\r\n\r\n{}")
        writer.close()


async def test_a_request_under_way_is_not_ended_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaosgate.gateway.server.HEAD_SECONDS", 0.2)

    async def upload():
        for _ in range(4):
            yield b"x"
            await asyncio.sleep(0.2)

    async def script(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        await asyncio.sleep(0.8)
        return web.Response(body=body)

    async with upstream(script) as url, gateway(url) as served:
        assert await ask(served.url, upload()) == (200, b"xxxx")


async def test_a_connection_too_many_is_told_so_and_may_come_back() -> None:
    async with upstream() as url, gateway(url, connections=2) as served:
        held = [await connect(served.url) for _ in range(2)]
        await asyncio.sleep(0.05)
        reader, writer = await connect(served.url)
        writer.write(raw_post())
        head, _, body = (await asyncio.wait_for(reader.read(), 20)).partition(b"\r\n\r\n")
        writer.close()

        assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert "as many connections as it may have" in json.loads(body)["error"]["message"]
        for _, other in held:
            other.close()
        await asyncio.sleep(0.05)
        assert (await ask(served.url))[0] == 200


HEAD = b"POST /a HTTP/1.1\r\nHost: g\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n"
EVIL = b"GET /evil HTTP/1.1\r\nHost: g\r\n\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + EVIL,
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + EVIL,
        HEAD + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd" + EVIL,
        HEAD + b"Content-Length: 4, 4\r\n\r\nabcd" + EVIL,
        HEAD + b"Content-Length: +4\r\n\r\nabcd" + EVIL,
        HEAD + b"Content-Length : 4\r\n\r\nabcd" + EVIL,
        HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + EVIL,
        HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + EVIL,
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + EVIL,
        HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + EVIL,
        b"POST /a HTTP/1.0\r\nHost: g\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + EVIL,
        CHUNKED + b"\r\n0x4\r\nabcd\r\n0\r\n\r\n" + EVIL,
        CHUNKED + b"\r\n-4\r\nabcd\r\n0\r\n\r\n" + EVIL,
        CHUNKED + b"\r\nfffffffffffffffff\r\nabcd\r\n0\r\n\r\n" + EVIL,
        CHUNKED + b"\r\n4\r\nabcdef\r\n0\r\n\r\n" + EVIL,
        HEAD + b"X-A: 1\r\n folded\r\nContent-Length: 0\r\n\r\n" + EVIL,
        HEAD + b"X-A: a\x00b\r\nContent-Length: 0\r\n\r\n" + EVIL,
        HEAD + b"X-A: a\rX-B: b\r\nContent-Length: 0\r\n\r\n" + EVIL,
        b"POST /a HTTP/1.1\nHost: g\nContent-Length: 0\n\n" + EVIL,
        HEAD + b"Host: h\r\nContent-Length: 0\r\n\r\n" + EVIL,
        HEAD + b"X-Long: " + b"y" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n" + EVIL,
        HEAD + b"".join(b"X-%d: y\r\n" % number for number in range(200)) + b"Content-Length: 0\r\n\r\n" + EVIL,
    ],
)
async def test_a_request_whose_end_is_unclear_is_refused_with_all_that_follows(request_bytes: bytes) -> None:
    reached: list[str] = []

    async def script(request: web.Request) -> web.StreamResponse:
        reached.append(request.path)
        await request.read()
        return web.Response(text="never read whole")

    async with upstream(script) as url, gateway(url) as served:
        answer = await asyncio.wait_for(raw(served.url, request_bytes), 20)

        assert answer.split(b" ", 2)[1] == b"400"
        assert b"never read whole" not in answer
        assert "/evil" not in reached


async def test_nothing_of_a_request_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key = {"Authorization": f"Bearer {SECRET}"}
    body = json.dumps({"prompt": SECRET}).encode()
    async with raw_upstream(b"") as dying, raw_upstream(b"HTTP/1.1 2x0 " + SECRET.encode()) as babbling:
        for url in ("http://127.0.0.1:1", dying, babbling):
            async with gateway(url) as served:
                assert (await ask(served.url, body, key))[0] == 502
    async with upstream() as url, gateway(url, [latency()]) as served:
        served.run.windows.open("slow", 0, 0.01, 60)
        assert (await ask(served.url, body, {**key, **named(1)}))[0] == 200
        assert (await ask(served.url, body, {**key, "X-Chaosgate-Request": SECRET}))[0] == 400
        for line in (f"Authorization : Bearer {SECRET}", f"X: {SECRET}\x00", f"X: {SECRET}\r\n {SECRET}"):
            malformed = f"POST {CHAT} HTTP/1.1\r\nHost: g\r\n{line}\r\n\r\n"
            assert b" 400 " in await raw(served.url, malformed.encode())
        assert SECRET not in json.dumps(await settled(served))
        assert SECRET not in served.run.metrics.render()

    assert SECRET not in caplog.text
    assert "a request was refused: " in caplog.text
