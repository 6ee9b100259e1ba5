"""A server that is to end: what is open is answered, what is new is not."""

from __future__ import annotations

import asyncio

from aiohttp.test_utils import TestClient, TestServer

from chaosgate.engine.api.server import Api
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.engine import Engine

from .test_server import CHAT, COMPLETIONS, body, events


async def test_a_server_that_drains_finishes_what_is_open_and_refuses_the_rest() -> None:
    api = Api(Engine(EngineConfig(seed=7)))
    async with TestClient(TestServer(api.application())) as client:
        async with client.post(COMPLETIONS, json=body(COMPLETIONS, max_tokens=900, stream=True)) as stream:
            draining = asyncio.create_task(api.drain(60))
            await asyncio.sleep(0)
            assert api.open == 1
            asking = [(path, "POST") for path in (COMPLETIONS, CHAT, "/v1/embeddings", "/tokenize", "/detokenize")]
            for path, method in (("/health", "GET"), *asking):
                async with client.request(method, path, json=body(COMPLETIONS)) as response:
                    error = (await response.json())["error"]
                assert (response.status, error["type"], error["code"]) == (503, "server_error", "shutting_down")
                assert error["message"] == (
                    "the engine is shutting down and takes no new requests; send it to another or start it again"
                )
            for path in ("/metrics", "/v1/models"):
                async with client.get(path) as response:
                    assert response.status == 200
            assert len(await events(stream)) == 900
        await draining
        assert api.open == 0


async def test_a_drain_waits_no_longer_than_it_may() -> None:
    api = Api(Engine(EngineConfig(seed=7)))
    async with TestClient(TestServer(api.application())) as client:
        stream = await client.post(COMPLETIONS, json=body(COMPLETIONS, max_tokens=900, stream=True))
        await api.drain(0)
        assert api.open == 1
        stream.close()
