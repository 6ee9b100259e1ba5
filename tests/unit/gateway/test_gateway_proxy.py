"""The data port without faults: nothing changes, nothing is held back, nothing goes on after its client."""

from __future__ import annotations

import asyncio
import gzip
import json
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp import web
from gateway_rig import CHAT, ask, echo, gateway, named, raw, raw_post, raw_upstream, settled, streaming, upstream
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosgate.servers import listen


@settings(max_examples=30)
@given(pieces=st.lists(st.binary(min_size=1, max_size=5000), max_size=8), chunked=st.booleans())
async def test_bodies_pass_in_both_directions_however_they_are_chunked(pieces: list[bytes], chunked: bool) -> None:
    whole = b"".join(pieces)

    async def upload():
        for piece in pieces:
            yield piece

    async with upstream(echo) as url, gateway(url) as served:
        status, body = await ask(served.url, upload() if chunked else whole)

        assert (status, body) == (200, whole)


@settings(max_examples=30)
@given(pieces=st.lists(st.binary(min_size=1, max_size=3000), max_size=8))
async def test_streamed_responses_pass_byte_for_byte(pieces: list[bytes]) -> None:
    async with upstream(streaming(pieces)) as url, gateway(url) as served:
        assert await ask(served.url) == (200, b"".join(pieces))


async def test_a_large_body_passes_in_both_directions() -> None:
    body = bytes(range(256)) * 40_000
    async with upstream(echo) as url, gateway(url) as served:
        assert await ask(served.url, body) == (200, body)


async def test_compressed_bodies_are_not_touched() -> None:
    squeezed = gzip.compress(b"prompt" * 100)

    async def script(request: web.Request) -> web.StreamResponse:
        return web.Response(body=await request.read(), headers={"Content-Encoding": "gzip"})

    async with upstream(script) as url, gateway(url) as served:
        assert await ask(served.url, squeezed, {"Content-Encoding": "gzip"}) == (200, squeezed)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"])
async def test_any_method_and_path_pass_unchanged(method: str) -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        return web.json_response([request.method, request.raw_path])

    async with upstream(script) as url, gateway(url) as served:
        request = f"{method} /a/../b%2Fc%20d;x?q=%7B+1&q=2 HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n"
        answer = await raw(served.url, request.encode())

        assert json.loads(answer.partition(b"\r\n\r\n")[2]) == [method, "/a/../b%2Fc%20d;x?q=%7B+1&q=2"]


async def test_a_head_request_keeps_the_length_it_asks_for() -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"12345")

    async with upstream(script) as url, gateway(url) as served:
        answer = await raw(served.url, b"HEAD / HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n")

        assert b"Content-Length: 5\r\n" in answer
        assert answer.endswith(b"\r\n\r\n")


async def test_the_request_reaches_the_server_with_its_headers_only() -> None:
    seen: list[tuple[str, str]] = []

    async def script(request: web.Request) -> web.StreamResponse:
        seen.extend(request.headers.items())
        return web.Response()

    async with upstream(script) as url, gateway(url) as served:
        own = {"X-Chaosgate-Request": "7.baseline.1", "x-chaosgate-scheduled": "1.5"}
        hop = {"Keep-Alive": "5", "TE": "trailers", "Upgrade": "h2c", "Proxy-Connection": "close"}
        await raw(served.url, raw_post({**own, **hop, "Authorization": "Bearer key", "x-Odd-CASE": "kept"}))

        assert seen == [
            ("Host", urlsplit(url).netloc),
            ("Content-Length", "2"),
            ("Authorization", "Bearer key"),
            ("x-Odd-CASE", "kept"),
        ]


async def test_the_response_arrives_with_the_servers_headers_only() -> None:
    head = b"HTTP/1.1 299 Quite Fine\r\nX-A: 1\r\nX-A: 2\r\nKeep-Alive: 5\r\nX-Hop: no\r\nConnection: x-hop, close\r\n"
    async with raw_upstream(head + b"Content-Length: 2\r\n\r\nok") as url, gateway(url) as served:
        answer = await raw(served.url, raw_post())

        assert answer == (
            b"HTTP/1.1 299 Quite Fine\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
        )


async def test_headers_beyond_ascii_pass() -> None:
    head = "HTTP/1.1 200 OK\r\nX-Name: Grüße\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    async with raw_upstream(head.encode()) as url, gateway(url) as served:
        assert "X-Name: Grüße\r\n".encode() in await raw(served.url, raw_post({"X-Name": "Grüße"}))


async def test_a_client_that_asks_before_it_sends_is_told_to_go_on() -> None:
    async with upstream(echo) as url, gateway(url) as served:
        answer = await raw(served.url, raw_post({"Expect": "100-continue"}))

        assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
        assert answer.endswith(b"\r\n\r\n{}")


async def test_bytes_of_a_header_that_are_no_utf_8_are_left_out_and_the_request_passes() -> None:
    asked: list[str] = []

    async def script(request: web.Request) -> web.StreamResponse:
        asked.append(request.headers["X-Team"])
        return await echo(request)

    async with upstream(script) as url, gateway(url) as served:
        answer = await raw(served.url, raw_post({"X-Team": "caf?, café"}).replace(b"caf?", b"caf\xe9"))

    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert asked == ["caf, café"]


async def test_another_expectation_is_not_met() -> None:
    async with upstream(echo) as url, gateway(url) as served:
        answer = await raw(served.url, raw_post({"Expect": "a miracle"}))

    assert answer.startswith(b"HTTP/1.1 417 Expectation Failed\r\n")
    assert b"the only one met is 100-continue" in answer


async def test_an_event_reaches_the_client_while_the_server_holds_the_rest() -> None:
    first_seen = asyncio.Event()

    async def script(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"data: first\n\n")
        await first_seen.wait()
        await response.write(b"data: last\n\n")
        return response

    async with (
        upstream(script) as url,
        gateway(url) as served,
        aiohttp.ClientSession() as session,
        session.post(served.url + CHAT, data=b"{}") as response,
    ):
        assert await response.content.readany() == b"data: first\n\n"
        first_seen.set()
        assert await response.content.read() == b"data: last\n\n"


async def test_an_upload_reaches_the_server_while_the_client_holds_the_rest() -> None:
    first_seen = asyncio.Event()

    async def script(request: web.Request) -> web.StreamResponse:
        assert await request.content.readany() == b"first"
        first_seen.set()
        return web.Response(body=await request.read())

    async def upload():
        yield b"first"
        await first_seen.wait()
        yield b"last"

    async with upstream(script) as url, gateway(url) as served:
        assert await ask(served.url, upload()) == (200, b"last")


async def test_a_client_that_does_not_read_holds_the_server_back() -> None:
    finished = asyncio.Event()

    async def script(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(1024):
            await response.write(bytes(65536))
        finished.set()
        return response

    async with upstream(script) as url, gateway(url) as served:
        parts = urlsplit(served.url)
        _, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1024)
        writer.write(raw_post())

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(finished.wait(), 0.5)
        writer.transport.abort()


@pytest.mark.parametrize("started", [False, True], ids=["before the response", "within the response"])
async def test_a_client_that_leaves_ends_the_request_at_the_server(started: bool) -> None:
    arrived, ended = asyncio.Event(), asyncio.Event()

    async def script(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        if started:
            await response.prepare(request)
            await response.write(b"x")
        arrived.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return response

    async with upstream(script) as url, gateway(url) as served:
        parts = urlsplit(served.url)
        _, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(raw_post(named(1, "baseline")))
        await arrived.wait()
        assert served.run.ledger.unfinished() == 1
        writer.transport.abort()

        await asyncio.wait_for(ended.wait(), 10)
        (row,) = await settled(served)
        assert row["request"] == "7.baseline.1"
        assert row["done"] >= row["seen"]
        assert 'requests_total{code="499"} 1' in served.run.metrics.render()


async def test_a_server_that_is_down_is_a_502_that_names_it_and_the_cause() -> None:
    with listen("127.0.0.1", 0) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    async with gateway(url) as served:
        status, body = await ask(served.url)

        assert status == 502
        assert json.loads(body) == {
            "error": {
                "message": f"upstream {url} did not answer: connection refused; check that the server runs",
                "type": "gateway_error",
                "param": None,
                "code": None,
            }
        }


async def test_a_server_that_closes_without_an_answer_is_a_502() -> None:
    async with raw_upstream(b"") as url, gateway(url) as served:
        status, body = await ask(served.url)

        assert status == 502
        assert json.loads(body)["error"]["message"] == (
            f"upstream {url} did not answer: Server disconnected; check that the server runs"
        )


@pytest.mark.parametrize(
    "head", [b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", b"Content-Length: 10\r\n\r\nhello"]
)
async def test_a_server_that_dies_within_its_response_leaves_it_unfinished_at_the_client(head: bytes) -> None:
    async with raw_upstream(b"HTTP/1.1 200 OK\r\n" + head) as url, gateway(url) as served:
        answer = await raw(served.url, raw_post())

        assert b"hello" in answer
        assert b"\r\n0\r\n" not in answer
        with pytest.raises(aiohttp.ClientPayloadError):
            await ask(served.url)


async def test_a_request_id_that_is_no_id_is_a_400_and_goes_nowhere() -> None:
    reached: list[str] = []

    async def script(request: web.Request) -> web.StreamResponse:
        reached.append(request.path)
        return web.Response()

    async with upstream(script) as url, gateway(url) as served:
        status, body = await ask(served.url, headers={"X-Chaosgate-Request": "7.baseline"})

        assert status == 400
        assert json.loads(body)["error"]["message"] == (
            "X-Chaosgate-Request: read '7.baseline'; "
            "write one id of the form <seed>.<phase>.<number>, such as 7.baseline.17"
        )
        assert reached == []
        assert await settled(served) == []


async def test_a_full_ledger_halts_the_run_and_lets_nothing_in() -> None:
    async with upstream() as url, gateway(url, limits={"max_rows": 2}) as served:
        assert [(await ask(served.url))[0] for _ in range(2)] == [200, 200]
        status, body = await ask(served.url)

        assert status == 507
        assert json.loads(body)["error"]["message"] == "ledger full: the run is halted; start another"
        assert served.run.windows.halted == "ledger full"
        assert len(await settled(served)) == 2


async def test_what_any_line_of_connection_lists_ends_at_the_gateway() -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Hop: no\r\nConnection: close\r\nConnection: x-hop\r\nContent-Length: 2\r\n\r\nok"
    async with raw_upstream(head) as url, gateway(url) as served:
        assert b"X-Hop" not in await raw(served.url, raw_post())

    seen: list[str] = []

    async def script(request: web.Request) -> web.StreamResponse:
        seen.extend(request.headers)
        return web.Response()

    async with upstream(script) as url, gateway(url) as served:
        await raw(served.url, raw_post({"connection": "X-Hop", "X-Hop": "1"}))
    assert "Content-Length" in seen
    assert "X-Hop" not in seen
