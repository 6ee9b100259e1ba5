"""Whatever a server does, a request ends in one observation that says what happened, and nothing is raised."""

from __future__ import annotations

import asyncio
import json
import socket
from itertools import pairwise
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web
from scripted_chat import ANSWER, BLUE, DONE, OPENING, STOP, Handler, Serve, call, event, streaming, token

from chaosgate.loadgen.client import ChatClient, open_session, outcome_of
from chaosgate.loadgen.trace import PhaseClock, Trace, text_digest
from chaosgate.model.observation import Observation
from chaosgate.prompts.prompt import Message


async def ask(url: str, limit: float = 10.0, **prompt: Any) -> Observation:
    async with open_session() as session:
        return await ask_in(session, url, limit, **prompt)


async def ask_in(session: aiohttp.ClientSession, url: str, limit: float = 10.0, **prompt: Any) -> Observation:
    clock = PhaseClock()
    client = ChatClient(session, url, model="tiny", max_tokens=8, seed=7, timeout=limit, clock=clock)
    trace = client.trace(call(**prompt))
    await client.ask(trace)
    seen = trace.observation()
    times = [seen.sent, *seen.tokens, seen.end]
    assert all(earlier <= later for earlier, later in pairwise(times))
    assert seen.first == (seen.tokens[0] if seen.tokens else None)
    return seen


@pytest.mark.parametrize(
    ("handler", "outcome", "tokens", "text"),
    [
        (streaming(ANSWER), "ok", 1, "blue"),
        (streaming(OPENING, DONE), "ok", 0, ""),
        (streaming(BLUE, 0.01, event(token("green", "length"))), "ok", 2, "bluegreen"),
        (streaming(BLUE, DONE), "ok", 1, "blue"),
        (streaming(b": hello\n\n", ANSWER), "ok", 1, "blue"),
        (streaming(ANSWER.replace(b"\n", b"\r")), "ok", 1, "blue"),
        (streaming(DONE.replace(b"\n", b"\r")), "ok", 0, ""),
        (streaming(event(token("blue green")), STOP), "ok", 1, "blue green"),
        (streaming(BLUE, STOP, 0.01, None), "ok", 1, "blue"),
        (streaming(BLUE, BLUE), "cut", 2, "blueblue"),
        (streaming(BLUE, 0.05, None), "cut", 1, "blue"),
        (streaming(b"data: [DONE]\n"), "cut", 0, ""),
        (streaming(), "cut", 0, ""),
        (streaming(BLUE, event('{"error": {"message": "no memory"}}'), DONE), "error", 1, "blue"),
        (streaming(BLUE, event('{"choices": ['), DONE), "error", 1, "blue"),
        (streaming(BLUE, event("upstream connect error"), STOP, DONE), "error", 1, "blue"),
        (streaming(BLUE, event(""), STOP, DONE), "error", 1, "blue"),
        (streaming(BLUE, DONE, event("not JSON")), "error", 1, "blue"),
        (streaming(BLUE, *[b"x" * 2**17] * 9), "error", 1, "blue"),
    ],
)
async def test_outcomes_of_streams(serve: Serve, handler: Handler, outcome: str, tokens: int, text: str) -> None:
    seen = await ask(await serve(handler))
    assert (seen.outcome, seen.status, len(seen.tokens)) == (outcome, 200, tokens)
    assert seen.text == text_digest(text)
    assert seen.answer == ("right" if text == "blue" else "wrong")


async def test_every_byte_in_a_chunk_of_its_own_is_the_same_answer(serve: Serve) -> None:
    seen = await ask(await serve(streaming(*[bytes([byte]) for byte in ANSWER])))
    assert (seen.outcome, len(seen.tokens), seen.answer) == ("ok", 1, "right")


async def requested(serve: Serve, **prompt: Any) -> tuple[str, Any, dict[str, Any]]:
    """Path, headers and body of the request for a prompt."""
    requests: list[tuple[str, Any, dict[str, Any]]] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        requests.append((request.path, request.headers, await request.json()))
        return await streaming(ANSWER)(request)

    await ask(await serve(handle) + "/", **prompt)
    (found,) = requests
    return found


async def test_the_request_says_what_is_asked(serve: Serve) -> None:
    path, headers, body = await requested(serve)
    assert path == "/v1/chat/completions"
    assert headers["X-Chaosgate-Request"] == "7.block1.17"
    assert headers["X-Chaosgate-Scheduled"] == "0.000000"
    assert body == {
        "model": "tiny",
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
        "max_tokens": 8,
        "seed": 7,
        "messages": [{"role": "user", "content": "facts red=blue\n?red="}],
    }


async def test_earlier_turns_go_before_the_prompt(serve: Serve) -> None:
    history = (Message("user", "copy red>"), Message("assistant", "red"))
    _, _, body = await requested(serve, history=history)
    assert body["messages"] == [
        {"role": "user", "content": "copy red>"},
        {"role": "assistant", "content": "red"},
        {"role": "user", "content": "facts red=blue\n?red="},
    ]


async def test_a_tenant_is_asked_for_by_its_adapters_name(serve: Serve) -> None:
    _, _, body = await requested(serve, tenant="tenant-b")
    assert (body["model"], body["user"]) == ("tiny:tenant-b", "tenant-b")


async def test_a_prompt_that_is_asked_again_is_asked_the_same_by_each_tenant(serve: Serve) -> None:
    bodies: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        bodies.append(await request.json())
        return await streaming(ANSWER)(request)

    async with open_session() as session:
        url = await serve(handle)
        client = ChatClient(session, url, model="tiny", max_tokens=8, seed=7, timeout=10.0, clock=PhaseClock())
        for tenant in ("blue", "green", "blue", None, "green"):
            await client.ask(client.trace(msgspec.structs.replace(call(), tenant=tenant)))

    assert [body.pop("user", None) for body in bodies] == ["blue", "green", "blue", None, "green"]
    assert all(body == bodies[0] for body in bodies)


@pytest.mark.parametrize("status", [201, 302, 400, 404, 429, 500, 503])
async def test_a_status_other_than_200_is_an_error(serve: Serve, status: int) -> None:
    async def handle(request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "no"}}, status=status, headers={"Location": "/elsewhere"})

    seen = await ask(await serve(handle))
    assert (seen.outcome, seen.status, seen.first) == ("error", status, None)


async def test_no_connection_is_refused() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        seen = await ask(f"http://127.0.0.1:{unused.getsockname()[1]}")
    assert (seen.outcome, seen.status, seen.tokens) == ("refused", None, ())


async def test_a_server_that_does_not_answer_times_out(serve: Serve) -> None:
    seen = await ask(await serve(streaming(BLUE, 5.0)), limit=0.5)
    assert (seen.outcome, seen.status, len(seen.tokens)) == ("timeout", 200, 1)
    assert seen.end - seen.sent >= 0.5


async def test_a_whole_answer_on_a_connection_that_stays_open_is_ok(serve: Serve) -> None:
    seen = await ask(await serve(streaming(ANSWER, 5.0)), limit=1.0)
    assert (seen.outcome, seen.answer) == ("ok", "right")


async def raw_server(answer: bytes) -> tuple[asyncio.Server, str]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"


@pytest.mark.parametrize(
    ("answer", "outcome", "status"),
    [
        (b"", "cut", None),
        (b"HTTP/1.1 200 O", "cut", None),
        (b"no HTTP at all\r\n\r\n", "error", None),
        (HEAD + b"\r\n5\r\ndata:", "cut", 200),
        (HEAD + b"Content-Encoding: gzip\r\n\r\n5\r\nplain\r\n0\r\n\r\n", "cut", 200),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + ANSWER, "ok", 200),
    ],
)
async def test_broken_http_is_an_outcome_too(answer: bytes, outcome: str, status: int | None) -> None:
    server, url = await raw_server(answer)
    async with server:
        seen = await ask(url)
    assert (seen.outcome, seen.status) == (outcome, status)


async def test_a_body_that_is_no_chunk_is_no_answer() -> None:
    server, url = await raw_server(HEAD + b"\r\nzz\r\nno chunk\r\n")
    async with server:
        seen = await ask(url)
    # Whether the status is known depends on whether the network delivers head and body at once.
    assert seen.outcome in ("cut", "error")


async def test_connections_are_used_again(serve: Serve) -> None:
    peers: set[Any] = set()

    async def handle(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        peers.add(request.transport.get_extra_info("peername"))
        return await streaming(ANSWER)(request)

    url = await serve(handle)
    async with open_session() as session:
        for _ in range(3):
            assert (await ask_in(session, url)).outcome == "ok"
    assert len(peers) == 1


async def test_cancelled_the_trace_is_left_as_given_up(serve: Serve) -> None:
    reached = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        reached.set()
        return await streaming(BLUE, 5.0)(request)

    url = await serve(handle)
    async with open_session() as session:
        client = ChatClient(session, url, model="tiny", max_tokens=8, seed=7, timeout=10.0, clock=PhaseClock())
        trace: Trace = client.trace(call())
        task = asyncio.create_task(client.ask(trace))
        await reached.wait()
        task.cancel()
        await asyncio.wait({task})
    assert task.cancelled()
    assert trace.observation().outcome == "timeout"


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (TimeoutError(), "timeout"),
        (aiohttp.ServerTimeoutError(), "timeout"),
        (aiohttp.ServerDisconnectedError(), "cut"),
        (aiohttp.ClientPayloadError(), "cut"),
        (ConnectionResetError(), "cut"),
        (json.JSONDecodeError("no", "", 0), "error"),
    ],
)
def test_errors_have_an_outcome(error: Exception, outcome: str) -> None:
    assert outcome_of(error) == outcome
