"""Why a request failed, as the client or the server said it."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web
from scripted_chat import ANSWER, BLUE, Serve, call, event, streaming

from chaosgate.loadgen.client import MAX_WHY, ChatClient, open_session, server_words
from chaosgate.loadgen.trace import PhaseClock


async def why(url: str, limit: float = 10.0) -> str | None:
    async with open_session() as session:
        client = ChatClient(session, url, model="m", max_tokens=8, seed=7, timeout=limit, clock=PhaseClock())
        trace = client.trace(call())
        await client.ask(trace)
        return trace.observation().why


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "no such\\nmodel", "code": 404}}', "no such model"),
        (b'{"error": "plain"}', "plain"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"message": "upstream"}', "upstream"),
        (b"<html>bad gateway</html>", "<html>bad gateway</html>"),
        (b"[1, 2]", "[1, 2]"),
        (b"\xff\x1b[2J", "\ufffd\ufffd[2J"),
        (b"", "no words"),
        # Deeper than a JSON reader goes.
        (b"[" * 4096, "[" * (MAX_WHY - 3) + "..."),
    ],
)
def test_a_server_s_words_are_one_line(body: bytes, words: str) -> None:
    assert server_words(body) == words


def test_long_words_are_cut() -> None:
    assert len(server_words(b"x" * 10_000)) == MAX_WHY


async def test_an_http_error_has_its_status_and_words(serve: Serve) -> None:
    async def refuse(request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "busy"}}, status=503)

    assert await why(await serve(refuse)) == "HTTP status 503: busy"


async def test_an_error_in_the_stream_is_told(serve: Serve) -> None:
    said = await why(await serve(streaming(BLUE, event('{"error": {"message": "out of memory"}}'))))
    assert said is not None
    assert "out of memory" in said


async def test_a_time_out_and_a_refusal_are_told(serve: Serve) -> None:
    assert await why(await serve(streaming(5.0)), limit=0.05) == "TimeoutError"
    said = await why("http://127.0.0.1:9")
    assert said is not None
    assert "127.0.0.1:9" in said


async def test_a_whole_answer_has_no_reason(serve: Serve) -> None:
    assert await why(await serve(streaming(ANSWER))) is None
    # Nor has one after which the connection broke off.
    assert await why(await serve(streaming(ANSWER, None))) is None
    await asyncio.sleep(0)
