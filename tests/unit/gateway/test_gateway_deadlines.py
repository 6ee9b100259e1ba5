"""How long the gateway waits for its servers, and what the client gets when a wait is over."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import pytest
from aiohttp import web
from gateway_rig import CHAT, ask, cut, gateway, named, settled, upstream


async def thinking(request: web.Request) -> web.StreamResponse:
    """Reads the request and never answers."""
    await request.read()
    await asyncio.Event().wait()
    return web.Response()


async def stalling(request: web.Request) -> web.StreamResponse:
    """Begins a stream and never goes on."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b"data: first\n\n")
    await asyncio.Event().wait()
    return response


@contextmanager
def unaccepting() -> Iterator[str]:
    """The URL of a server whose queue of connections is full, so that it takes no further one."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        waiting = [socket.socket() for _ in range(8)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            for one in waiting:
                one.close()


async def test_a_server_that_accepts_no_connection_is_a_504() -> None:
    with unaccepting() as url:
        async with gateway(url, timeouts={"connect": "200ms"}) as served:
            status, body = await ask(served.url)

            assert status == 504
            assert json.loads(body)["error"] == {
                "message": f"upstream {url} did not answer: it did not accept a connection in time; "
                "check that the server is not overloaded, or allow more in `timeouts`",
                "type": "gateway_error",
                "param": None,
                "code": None,
            }


async def test_the_next_server_is_tried_when_one_accepts_no_connection() -> None:
    with unaccepting() as url:
        async with upstream() as up, gateway(url, replicas=[up], timeouts={"connect": "200ms"}) as served:
            assert await ask(served.url, b"hello") == (200, b"hello")


@pytest.mark.parametrize("body", [b"", b"{}"])
async def test_a_response_that_does_not_begin_in_time_is_a_504(body: bytes) -> None:
    async with upstream(thinking) as url, gateway(url, timeouts={"firstByte": "200ms"}) as served:
        status, answer = await ask(served.url, body, named(1, "baseline"))

        assert status == 504
        assert "did not answer: its response did not begin in time" in json.loads(answer)["error"]["message"]
        assert [row["request"] for row in await settled(served)] == ["7.baseline.1"]


async def test_the_time_of_a_slow_upload_does_not_count() -> None:
    async def upload():
        for _ in range(10):
            yield b"x"
            await asyncio.sleep(0.1)

    async with upstream() as url, gateway(url, timeouts={"firstByte": "500ms"}) as served:
        assert await ask(served.url, upload()) == (200, b"x" * 10)


@pytest.mark.parametrize("faults", [[], [cut(after=5)]], ids=["passed on", "edited"])
async def test_a_stream_that_stalls_is_broken_off(faults: list[dict[str, object]]) -> None:
    async with upstream(stalling) as url, gateway(url, faults, timeouts={"idle": "200ms"}) as served:
        for fault in faults:
            served.run.windows.open(str(fault["name"]), 0, 1.0, 60)
        async with aiohttp.ClientSession() as session:
            response = await session.post(served.url + CHAT, data=b"{}", headers=named(1))
            assert await response.content.readany() == b"data: first\n\n"
            with pytest.raises(aiohttp.ClientPayloadError):
                await response.content.readany()


async def test_a_stream_that_goes_on_in_time_is_whole() -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(10):
            await response.write(b"x")
            await asyncio.sleep(0.1)
        return response

    async with upstream(script) as url, gateway(url, timeouts={"idle": "500ms"}) as served:
        assert await ask(served.url) == (200, b"x" * 10)


async def test_a_reader_that_is_slow_is_no_stall() -> None:
    size = 8 * 1024 * 1024

    async def script(request: web.Request) -> web.StreamResponse:
        return web.Response(body=bytes(size))

    async with (
        upstream(script) as url,
        gateway(url, timeouts={"idle": "200ms"}) as served,
        aiohttp.ClientSession() as session,
        session.post(served.url + CHAT, data=b"{}") as response,
    ):
        await asyncio.sleep(0.6)
        assert len(await response.read()) == size


async def test_without_deadlines_a_server_may_think() -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.5)
        return web.Response(text="thought")

    async with upstream(script) as url, gateway(url) as served:
        assert await ask(served.url) == (200, b"thought")
