"""The model's name in a body, found where that is cheap."""

from __future__ import annotations

import asyncio
import hashlib
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from aiohttp import StreamReader
from multidict import CIMultiDict

from chaosgate.gateway.body import MAX_KEPT, Body
from chaosgate.model.prompt_text import read_prompt


def sent(data: bytes, *codings: str) -> Body:
    """A body as it comes, with headers that say how it is coded."""
    stream = SimpleNamespace(iter_any=lambda: _pieces(data))
    headers = CIMultiDict(("Content-Encoding", coding) for coding in codings)
    return Body(SimpleNamespace(body_exists=True, content=stream, headers=headers))  # type: ignore[arg-type]


async def read(data: bytes) -> Body:
    """A body that has been read."""
    body = sent(data)
    await body.drain()
    return body


async def _pieces(data: bytes):
    for start in range(0, len(data), 1000):
        await asyncio.sleep(0)
        yield data[start : start + 1000]


@pytest.mark.parametrize(
    ("data", "model"),
    [
        (b'{"model": "tiny", "messages": []}', "tiny"),
        (b'{"model": 3}', "unknown"),
        (b"[]", "unknown"),
        (b"{", "unknown"),
        (b"\xff", "unknown"),
        (b"[" * MAX_KEPT, "unknown"),
        (b'{"model": "tiny"}' + b" " * MAX_KEPT, "unknown"),
        (b"", "unknown"),
    ],
)
async def test_the_model_is_read_from_small_json_objects(data: bytes, model: str) -> None:
    assert (await read(data)).model() == model


def arrived(data: bytes, *, whole: bool = True, length: bool = True) -> Body:
    """A body that came with its head; of one that is not `whole` the end is still on its way."""
    stream = StreamReader(Mock(_reading_paused=False), limit=2 * MAX_KEPT, loop=asyncio.get_running_loop())
    stream.feed_data(data)
    if whole:
        stream.feed_eof()
    headers = CIMultiDict([("Content-Length", str(len(data)))] if length else [])
    return Body(SimpleNamespace(body_exists=True, content=stream, headers=headers))  # type: ignore[arg-type]


async def test_a_short_body_that_is_here_goes_in_one_piece_as_often_as_it_is_asked_for() -> None:
    body = arrived(b'{"model": "tiny"}')
    assert [body.in_one_piece(), body.in_one_piece()] == [b'{"model": "tiny"}'] * 2
    assert (body.model(), body.size) == ("tiny", 17)
    assert body.digest() == hashlib.sha256(b'{"model": "tiny"}').hexdigest()
    assert body.keep()
    assert [chunk async for chunk in body.chunks()] == [b'{"model": "tiny"}']


@pytest.mark.parametrize(
    ("size", "whole", "length"), [(MAX_KEPT + 1, True, True), (10, False, True), (10, True, False)]
)
async def test_any_other_body_goes_as_it_comes(size: int, whole: bool, length: bool) -> None:
    assert arrived(b"x" * size, whole=whole, length=length).in_one_piece() is None


async def test_a_body_whose_end_somebody_waits_for_goes_as_it_comes() -> None:
    body, sent = arrived(b"{}"), []
    body.when_sent(lambda: sent.append("now"))
    assert body.in_one_piece() is None
    assert [chunk async for chunk in body.chunks()] == [b"{}"]
    assert sent == ["now"]


@pytest.mark.parametrize("codings", [(), ("identity",), ("Identity",), ("",)])
async def test_a_body_that_comes_as_it_is_can_be_read(codings: tuple[str, ...]) -> None:
    assert await sent(b'{"a": 1}', *codings).read_object() == {"a": 1}


@pytest.mark.parametrize("codings", [("gzip",), ("identity, br",), ("identity", "gzip")])
async def test_a_packed_body_cannot(codings: tuple[str, ...]) -> None:
    assert await sent(b'{"a": 1}', *codings).read_object() == "the body is compressed"


async def test_the_digest_is_of_the_whole_body() -> None:
    data = bytes(3 * MAX_KEPT)

    assert (await read(data)).digest() == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("data", "sent"),
    [
        (
            b'{"prompt":"x","a":NaN,"b":1e400,"c":12345678901234567890,"d":0.12345678901234567890,"e":-0,"a":2}',
            b'{"prompt":"y","a":NaN,"b":1e400,"c":12345678901234567890,"d":0.12345678901234567890,"e":-0,"a":2}',
        ),
        (
            b'{"messages": [{"role": "user", "n": 1e400, "content": "x"}, {"role": "tool",  "n": 1E5}], "t": 0.10}',
            b'{"messages": [{"role": "user", "n": 1e400, "content": "y"},{"role": "tool",  "n": 1E5}], "t": 0.10}',
        ),
        (
            b'{"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, {"fps": 1e400}]}]}',
            b'{"messages": [{"role": "user", "content": [{"type":"text","text":"y"},{"fps": 1e400}]}]}',
        ),
        (
            b'{"messages": [], "messages": [{"role": "user"}]}',
            b'{"messages": [{"role": "user","content":"y"}], "messages": [{"role": "user","content":"y"}]}',
        ),
        ('{"prompt": "x", "u": "é"}'.encode("utf-16"), '{"prompt": "y", "u": "é"}'.encode()),
        (b'{"prompt": "x", "u": "\xed\xa0\x80"}', b'{"prompt": "y", "u": "\xed\xa0\x80"}'),
    ],
)
async def test_a_rewritten_body_keeps_every_other_value_as_it_was_written(data: bytes, sent: bytes) -> None:
    stream = SimpleNamespace(iter_any=lambda: _pieces(data))
    body = Body(SimpleNamespace(body_exists=True, content=stream, headers=CIMultiDict()))  # type: ignore[arg-type]
    read = await body.read_object()
    assert isinstance(read, dict)
    prompt = read_prompt(read)
    assert prompt is not None

    body.rewrite(prompt.with_text(0, "y"))

    assert body.replaced == sent
