"""The model's name in a body, found where that is cheap."""

from __future__ import annotations

import asyncio
import hashlib
from types import SimpleNamespace

import pytest

from chaosgate.gateway.body import MAX_KEPT, Body


async def read(data: bytes) -> Body:
    """A body that has been read."""
    stream = SimpleNamespace(iter_any=lambda: _pieces(data))
    body = Body(SimpleNamespace(body_exists=True, content=stream))  # type: ignore[arg-type]
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


async def test_the_digest_is_of_the_whole_body() -> None:
    data = bytes(3 * MAX_KEPT)

    assert (await read(data)).digest() == hashlib.sha256(data).hexdigest()
