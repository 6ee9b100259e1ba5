"""Clients that mean harm or do not know better: each gets a clear error, and the others are served as before."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import resource
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from chaosgate.engine.api.limits import LIMITS

from ..conftest import Served, start_engine
from .server_rig import serving

COMPLETIONS = "/v1/completions"
TOO_LARGE = (
    "the body may have at most 262144 bytes, got {}; shorten the prompt: a text of that size does not fit into the"
    " model's context by far"
)


@pytest.fixture
async def http(untrained: Served) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(untrained.url) as session:
        yield session


async def error(http: aiohttp.ClientSession, status: int, **request: Any) -> dict[str, Any]:
    """The error object of a refusal; asserts its status and that the server answers others as before."""
    async with http.post(COMPLETIONS, **request) as response:
        answer = await response.json()
        assert response.status == status, answer
    async with http.get("/health") as response:
        assert response.status == 200
    return dict(answer["error"])


def body(**more: Any) -> bytes:
    return json.dumps({"model": "embedded/tiny", "prompt": "hi", **more}).encode()


async def test_a_prompt_of_ten_megabytes_is_too_large(http: aiohttp.ClientSession) -> None:
    raw = body(prompt="x" * 10_000_000)
    refusal = await error(http, 413, data=raw)
    assert (refusal["type"], refusal["code"]) == ("invalid_request_error", "body_too_large")
    assert refusal["message"] == TOO_LARGE.format(f"{len(raw)} bytes")


async def test_so_is_one_whose_size_is_not_announced(http: aiohttp.ClientSession) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"model": "embedded/tiny", "prompt": "'
        for _ in range(100):
            yield b"x" * 100_000

    assert (await error(http, 413, data=pieces()))["message"] == TOO_LARGE.format("more than that")


async def test_so_is_one_that_is_small_only_while_it_is_packed(http: aiohttp.ClientSession) -> None:
    packed = gzip.compress(body(prompt="x" * 10_000_000))
    assert len(packed) < LIMITS.body_bytes
    refusal = await error(http, 413, data=packed, headers={"Content-Encoding": "gzip"})
    assert refusal["message"] == TOO_LARGE.format("more than that")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (body()[:-3], "the body is no JSON: Unterminated string"),
        (b'{"model": "embedded/tiny", "prompt": "\xff\xfe"}', "the body is no JSON: byte 39 is no UTF-8"),
        (b'{"a":' * 40_000, "the body is no JSON: its objects or arrays lie too deep in one another"),
        (b"[" * 200_000, "the body is no JSON: its objects or arrays lie too deep in one another"),
        (b"\x00" * 1000, "the body is no JSON"),
        (b"1" * 5000, "the body is no JSON: it has an integer of more than 4300 digits"),
        (b"", "the body is no JSON"),
    ],
)
async def test_what_is_no_json_is_refused(http: aiohttp.ClientSession, raw: bytes, message: str) -> None:
    refusal = await error(http, 400, data=raw)
    assert refusal["code"] == "invalid_json"
    assert refusal["message"].startswith(message)


async def test_any_bytes_that_json_can_carry_are_a_prompt(http: aiohttp.ClientSession) -> None:
    for prompt in ("\x00\x07", "\ud800", "\U0010ffff" * 20, "e\u0301" * 100, "\u202e\u200d"):
        async with http.post(COMPLETIONS, data=body(prompt=prompt, max_tokens=2)) as response:
            assert response.status == 200, prompt


async def test_a_salt_that_is_no_utf_8_is_a_salt(http: aiohttp.ClientSession) -> None:
    async with http.post(COMPLETIONS, data=body(cache_salt="\ud800", max_tokens=2)) as response:
        assert response.status == 200


UNPACKED = "the body broke off or is not packed as Content-Encoding and Transfer-Encoding say; send it as plain JSON"


@pytest.mark.parametrize(
    ("headers", "raw"),
    [
        (b"Content-Encoding: gzip\r\nContent-Length: 42", body()[:42]),
        (b"Content-Encoding: gzip\r\nContent-Length: 42", gzip.compress(body(), mtime=0)[:20] + b"x" * 22),
        (b"Content-Encoding: deflate\r\nContent-Length: 42", body()[:42]),
    ],
)
async def test_a_body_that_cannot_be_unpacked_is_refused_and_leaves_no_trace_in_the_log(
    headers: bytes, raw: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(LIMITS) as rig:
        reader, writer = await asyncio.open_connection(rig.host, rig.port)
        writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n\r\n" + raw)
        answered = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
        assert answered.startswith(b"HTTP/1.1 400 ")
        answer = json.loads(await asyncio.wait_for(reader.read(500), 20))
        assert (answer["error"]["code"], answer["error"]["message"]) == ("invalid_body", UNPACKED)
        assert await asyncio.wait_for(reader.read(), 20) == b"", "the connection is of no use any more"
        writer.close()
        async with rig.http.post(COMPLETIONS, data=body(max_tokens=1)) as response:
            assert response.status == 200
    assert caplog.text == ""


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01 hello\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 20_000 + b"\r\n\r\n",
        b"POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        b"POST /tokenize HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ],
)
async def test_what_is_refused_before_it_has_a_path_leaves_no_trace_in_the_log(
    raw: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(LIMITS) as rig:
        reader, writer = await asyncio.open_connection(rig.host, rig.port)
        writer.write(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)).startswith(b"HTTP/1.1 200 ")
        writer.write(raw)
        assert b" 400 Bad Request\r\n" in await asyncio.wait_for(reader.read(), 20)
        writer.close()
    assert caplog.text == ""


async def test_what_fails_inside_the_server_is_an_error_in_the_same_form_and_one_line_of_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("of\nours")

    async with serving(LIMITS) as rig:
        with monkeypatch.context() as patched:
            patched.setattr("chaosgate.engine.api.server.parse_completion", broken)
            assert await _failure(rig.http, "x") == (500, INTERNAL)
        with monkeypatch.context() as patched:
            patched.setattr("chaosgate.engine.api.answers.Answer.token", broken)
            assert await _failure(rig.http, "x", stream=True) == (200, INTERNAL)
        assert [record.exc_info for record in caplog.records] == [None, None]
        for record in caplog.records:
            assert re.fullmatch(
                r"chaosgate engine: POST /v1/completions: ZeroDivisionError at \S+test_refusals.py:\d+: of ours",
                record.getMessage(),
            )
        async with rig.http.post(COMPLETIONS, data=body(max_tokens=1)) as response:
            assert response.status == 200


INTERNAL = {
    "message": "the engine failed at this request, and its log says at what; the others go on",
    "type": "server_error",
    "param": None,
    "code": "internal_error",
}


async def _failure(http: aiohttp.ClientSession, prompt: str, **more: Any) -> tuple[int, Any]:
    async with http.post(COMPLETIONS, data=body(prompt=prompt, **more)) as response:
        text = await response.text()
    assert "[DONE]" not in text
    return response.status, json.loads(text.removeprefix("data: "))["error"]


async def test_what_is_no_http_is_refused_and_the_connection_ends(untrained: Served) -> None:
    host, port = untrained.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"\x16\x03\x01\x02\x00\x01 hello\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), 20)
    assert answer.startswith(b"HTTP/1.0 400 ")
    writer.close()


async def test_a_head_that_trickles_in_ends_the_connection() -> None:
    async with serving(replace(LIMITS, idle_seconds=0.3)) as rig:
        reader, writer = await asyncio.open_connection(rig.host, rig.port)
        for piece in (b"POST /v1/completions HTTP/1.1\r\n", b"Host: x\r\n", b"X-Slow: "):
            writer.write(piece)
            await asyncio.sleep(0.02)
        assert await asyncio.wait_for(reader.read(), 20) == b""
        writer.close()


async def test_a_body_that_trickles_in_is_refused() -> None:
    async with serving(replace(LIMITS, body_seconds=0.2)) as rig:
        reader, writer = await asyncio.open_connection(rig.host, rig.port)
        writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
        assert head.startswith(b"HTTP/1.1 408 ")
        answer = json.loads(await asyncio.wait_for(reader.read(500), 20))
        assert answer["error"]["code"] == "body_too_slow"
        assert answer["error"]["message"] == "the body did not arrive whole within 0.2 s; send it faster"
        writer.close()
        async with rig.http.post(COMPLETIONS, data=body()) as response:
            assert response.status == 200


async def test_a_client_that_does_not_read_is_cut_off_and_holds_up_nobody() -> None:
    async with serving(replace(LIMITS, write_seconds=0.3), send_buffer=4096) as rig:
        # Its events are more than the buffers of both ends hold, so that the server has to wait for it.
        messages = [{"role": "user", "content": "hi"}]
        asked = body(messages=messages, max_tokens=1000, ignore_eos=True, logprobs=True, top_logprobs=20, stream=True)
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(asked)}\r\n\r\n"
        with socket.socket() as idle:
            idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            idle.connect((rig.host, rig.port))
            idle.sendall(head.encode() + asked)
            await _until(lambda: rig.api.open == 1)
            async with rig.http.post(COMPLETIONS, data=body()) as response:
                assert response.status == 200
            await _until(lambda: rig.api.open == 0)
            assert b"[DONE]" not in await asyncio.to_thread(_read_all, idle)
        async with rig.http.get("/metrics") as response:
            page = await response.text()
        assert 'vllm:request_success_total{finished_reason="abort",model_name="embedded/tiny"} 1' in page
        # It was cancelled; its blocks are free from the next step on.
        await _until(lambda: rig.engine.scheduler.running == 0)


def _read_all(connection: socket.socket) -> bytes:
    with connection.makefile("rb") as stream:
        return stream.read()


async def _until(holds: Callable[[], bool]) -> None:
    while True:
        if holds():
            return
        await asyncio.sleep(0.005)


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_thousand_connections_at_once_each_get_an_answer(tmp_path: Path) -> None:
    connections = 1000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * connections:
        pytest.skip(f"a process may have {hard} open files here, too few for {connections} connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * connections), hard))
    server = start_engine(tmp_path, "--seed", "7")
    try:
        async with aiohttp.ClientSession(server.url, connector=aiohttp.TCPConnector(limit=0)) as http:
            answers = await asyncio.gather(*(_answer(http) for _ in range(connections)))
            assert set(answers) <= {(200, None), (503, "queue_full")}
            # At least as many as may run and wait.
            assert Counter(answers)[(200, None)] >= 256
            async with http.get("/health") as response:
                assert response.status == 200
    finally:
        code, errors = server.stop()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (code, errors.count("\n")) == (0, 1), errors


async def _answer(http: aiohttp.ClientSession) -> tuple[int, str | None]:
    async with http.post(COMPLETIONS, data=body(max_tokens=4)) as response:
        answer = await response.json()
        return response.status, answer["error"]["code"] if "error" in answer else None
