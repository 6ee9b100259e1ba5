"""Connections: what they carry one after the other, and what becomes of them when one side stops reading or writing."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp import web
from gateway_rig import CHAT, ask, error, gateway, named, raw, raw_post, raw_upstream, settled, upstream

GET = b"GET %s HTTP/1.1\r\nHost: g\r\n\r\n"
LAST = b"GET /last HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n"


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    return await asyncio.open_connection(parts.hostname, parts.port)


async def by_path(request: web.Request) -> web.StreamResponse:
    """A server whose path says how it answers."""
    await request.read()
    match request.path:
        case "/204" | "/304":
            return web.Response(status=int(request.path[1:]), headers={"X-Kept": "yes"})
        case "/chunked":
            response = web.StreamResponse()
            response.enable_chunked_encoding()
            await response.prepare(request)
            await response.write(b"in chunks")
            return response
        case "/503":
            return web.json_response({"error": "busy"}, status=503, headers={"Retry-After": "1"})
        case "/gone":
            request.transport.abort()  # type: ignore[union-attr]
            return web.Response()
        case _:
            return web.Response(text=f"at {request.path}")


@pytest.mark.parametrize(
    ("first", "status"),
    [
        (GET % b"/whole", 200),
        (GET % b"/chunked", 200),
        (GET % b"/204", 204),
        (GET % b"/304", 304),
        (GET % b"/503", 503),
        (b"HEAD /whole HTTP/1.1\r\nHost: g\r\n\r\n", 200),
        (b"OPTIONS /whole HTTP/1.1\r\nHost: g\r\n\r\n", 200),
        (b"POST /gone HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\n\r\n{}", 502),
        (b"POST /a HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\nX-Chaosgate-Request: no\r\n\r\n{}", 400),
        (b"POST /a HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 200),
        (b"POST /a HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\nX-Chaosgate-Request: 7.block1.1\r\n\r\n{}", 503),
    ],
)
async def test_a_connection_carries_the_next_request_after_each_kind_of_ending(first: bytes, status: int) -> None:
    async with upstream(by_path) as url, gateway(url, [error(status=503)]) as served:
        served.run.windows.open("bad", 0, 1.0, 60)
        answer = await asyncio.wait_for(raw(served.url, first + LAST), 20)

        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert answer.endswith(b"\r\n\r\nat /last")


async def test_an_answer_that_is_there_at_once_takes_one_packet() -> None:
    async with upstream(by_path) as url, gateway(url) as gate:
        reader, writer = await connect(gate.url)
        writer.write(GET % b"/whole")
        seen = await reader.read(65536)
        assert seen.startswith(b"HTTP/1.1 200 OK\r\n")
        assert seen.endswith(b"\r\n\r\nat /whole")
        writer.close()


async def test_a_head_does_not_wait_for_its_body() -> None:
    go_on = asyncio.Event()

    async def slow(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "4"})
        await response.prepare(request)
        await asyncio.wait_for(go_on.wait(), 10)
        await response.write(b"body")
        return response

    async with upstream(slow) as url, gateway(url) as gate:
        reader, writer = await connect(gate.url)
        writer.write(GET % b"/whole")
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
        go_on.set()
        assert b"Content-Length: 4" in head
        assert await reader.readexactly(4) == b"body"
        writer.close()


@pytest.mark.parametrize("path", ["/204", "/304"])
async def test_a_response_without_a_body_has_none(path: str) -> None:
    async with upstream(by_path) as url, gateway(url) as served:
        head, _, body = (await raw(served.url, GET % path.encode() + LAST)).partition(b"\r\n\r\n")

        assert b"X-Kept: yes" in head
        assert b"Transfer-Encoding" not in head
        assert body.startswith(b"HTTP/1.1 200 OK")


async def test_requests_that_are_sent_ahead_are_answered_in_their_order() -> None:
    async with upstream(by_path) as url, gateway(url) as served:
        answer = await raw(served.url, b"".join(GET % b"/%d" % number for number in range(20)) + LAST)

        assert [part.split(b"HTTP/")[0] for part in answer.split(b"at /")[1:]] == [
            *(b"%d" % number for number in range(20)),
            b"last",
        ]


async def test_interim_responses_end_at_the_gateway() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    async with raw_upstream(hints + final) as url, gateway(url) as served:
        assert (await raw(served.url, raw_post())) == final


async def test_a_response_that_ends_with_its_connection_is_whole() -> None:
    async with raw_upstream(b"HTTP/1.0 200 OK\r\n\r\nuntil the end") as url, gateway(url) as served:
        assert await ask(served.url) == (200, b"until the end")


@pytest.mark.parametrize(
    "head", [b"X-Long: " + b"y" * 70_000, b"\r\n".join(b"X-%d: y" % number for number in range(200))]
)
async def test_a_response_whose_head_is_too_large_is_a_502(head: bytes) -> None:
    async with raw_upstream(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n") as url, gateway(url) as served:
        assert (await ask(served.url))[0] == 502


async def test_headers_that_come_twice_go_on_twice() -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        return web.json_response(request.headers.getall("X-A"))

    async with upstream(script) as url, gateway(url) as served:
        answer = await raw(served.url, b"GET / HTTP/1.1\r\nHost: g\r\nX-A: 1\r\nX-A: 2\r\nConnection: close\r\n\r\n")

        assert answer.endswith(b'["1", "2"]')


async def test_each_event_is_seen_before_the_server_sends_the_next() -> None:
    seen = asyncio.Queue[bytes]()

    async def script(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for number in range(50):
            event = b"data: %d\n\n" % number
            await response.write(event)
            assert await seen.get() == event
        return response

    async with (
        upstream(script) as url,
        gateway(url) as served,
        aiohttp.ClientSession() as session,
        session.post(served.url + CHAT, data=b"{}") as response,
    ):
        async for chunk in response.content.iter_any():
            seen.put_nowait(chunk)
        assert seen.empty()


async def test_a_server_that_does_not_read_holds_the_client_back() -> None:
    release, sent = asyncio.Event(), 0

    async def script(request: web.Request) -> web.StreamResponse:
        await release.wait()
        return web.Response(text=str(len(await request.read())))

    async def upload():
        nonlocal sent
        for _ in range(1024):
            yield bytes(65536)
            sent += 65536

    async with upstream(script) as url, gateway(url) as served:
        answer = asyncio.ensure_future(ask(served.url, upload()))
        await asyncio.sleep(0.5)
        held = sent
        release.set()

        assert held < 32 * 1024 * 1024
        assert await answer == (200, b"%d" % (64 * 1024 * 1024))


async def test_a_client_that_stops_writing_counts_as_one_that_left() -> None:
    ended = asyncio.Event()

    async def script(request: web.Request) -> web.StreamResponse:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return web.Response()

    async with upstream(script) as url, gateway(url) as served:
        _, writer = await connect(served.url)
        writer.write(raw_post(named(1, "baseline")))
        await asyncio.sleep(0.1)
        writer.write_eof()

        await asyncio.wait_for(ended.wait(), 10)
        assert [row["request"] for row in await settled(served)] == ["7.baseline.1"]
        writer.close()


async def test_a_client_that_stops_within_its_upload_leaves_no_whole_request_behind() -> None:
    bodies: list[bytes] = []

    async def script(request: web.Request) -> web.StreamResponse:
        bodies.append(await request.read())
        return web.Response()

    async with upstream(script) as url, gateway(url) as served:
        _, writer = await connect(served.url)
        writer.write(b"POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\n12345")
        await asyncio.sleep(0.1)
        writer.transport.abort()

        assert len(await settled(served)) == 1
        assert bodies == []
        assert json.dumps(served.run.windows.halted) == "null"
