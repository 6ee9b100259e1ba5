"""The HTTP interface, against a server process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import numpy as np
import pytest
from aiohttp.test_utils import TestClient, TestServer

import chaosgate
from chaosgate.engine.config import EngineConfig
from chaosgate.engine.engine import Engine
from chaosgate.engine.scheduler import Scheduler
from chaosgate.engine.server import Api
from chaosgate.engine.transformer import Transformer

from .conftest import Served
from .test_metrics import parse
from .test_weights import SEED_7

MODEL = "embedded/tiny"
COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"


@pytest.fixture
async def http(served: Served) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(served.url, connector=aiohttp.TCPConnector(limit=0)) as session:
        yield session


def body(path: str, text: str = "hello red", **more: Any) -> dict[str, Any]:
    asked = {"messages": [{"role": "user", "content": text}]} if path == CHAT else {"prompt": text}
    return {"model": MODEL, "temperature": 0, "max_tokens": 12, **asked, **more}


async def events(response: aiohttp.ClientResponse) -> list[dict[str, Any]]:
    """The JSON events of a stream; asserts its framing and its end."""
    assert response.status == 200
    assert response.content_type == "text/event-stream"
    *blocks, last, rest = (await response.text()).split("\n\n")
    assert (last, rest) == ("data: [DONE]", "")
    assert all(block.startswith("data: ") for block in blocks)
    return [json.loads(block.removeprefix("data: ")) for block in blocks]


async def refused(http: aiohttp.ClientSession, path: str, status: int, **request: Any) -> dict[str, Any]:
    method = request.pop("method", "POST")
    async with http.request(method, path, **request) as response:
        answer = await response.json()
        assert response.status == status, answer
    assert set(answer) == {"error"}
    assert set(answer["error"]) == {"message", "type", "param", "code"}
    return dict(answer["error"])


async def metrics(http: aiohttp.ClientSession) -> dict[str, float]:
    async with http.get("/metrics") as response:
        assert response.content_type == "text/plain"
        return parse(await response.text())


async def until(http: aiohttp.ClientSession, running: int) -> dict[str, float]:
    """The metrics once `running` requests run and none waits."""
    while True:
        samples = await metrics(http)
        if (samples["vllm:num_requests_running{}"], samples["vllm:num_requests_waiting{}"]) == (running, 0):
            return samples
        await asyncio.sleep(0.001)


async def test_models_say_what_is_served(http: aiohttp.ClientSession) -> None:
    async with http.get("/v1/models") as response:
        listing = await response.json()
    assert listing["object"] == "list"
    (entry,) = listing["data"]
    assert (entry["id"], entry["object"], entry["max_model_len"]) == (MODEL, "model", 1024)
    assert entry["chaosgate"] == {
        "weights_digest": SEED_7,
        "engine": "embedded",
        "engine_version": chaosgate.__version__,
        "arguments": {"model": MODEL, "seed": 7, "max_num_seqs": 32, "max_waiting": 256, "prefill_budget": 256},
    }


async def test_health(http: aiohttp.ClientSession) -> None:
    async with http.get("/health") as response:
        assert response.status == 200


@pytest.mark.parametrize("path", [COMPLETIONS, CHAT])
async def test_stream_and_whole_give_the_same_text(http: aiohttp.ClientSession, path: str) -> None:
    async with http.post(path, json=body(path)) as response:
        whole = await response.json()
    async with http.post(path, json=body(path, stream=True)) as response:
        streamed = await events(response)
    choice = whole["choices"][0]
    tokens = streamed[1:] if path == CHAT else streamed
    assert len(tokens) == 12, "one event a token"
    if path == CHAT:
        assert streamed[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
        text = "".join(event["choices"][0]["delta"]["content"] for event in tokens)
        assert choice["message"] == {"role": "assistant", "content": text}
    else:
        assert choice["text"] == "".join(event["choices"][0]["text"] for event in tokens)
    assert [event["choices"][0]["finish_reason"] for event in tokens] == [None] * 11 + ["length"]
    assert choice["finish_reason"] == "length"
    assert len({event["id"] for event in streamed}) == 1
    assert whole["usage"] == {"prompt_tokens": 8, "completion_tokens": 12, "total_tokens": 20}


async def test_usage_comes_last_where_asked_for(http: aiohttp.ClientSession) -> None:
    asked = body(CHAT, stream=True, stream_options={"include_usage": True})
    async with http.post(CHAT, json=asked) as response:
        *others, last = await events(response)
    assert all(event["usage"] is None and event["object"] == "chat.completion.chunk" for event in others)
    assert last["choices"] == []
    assert last["usage"] == {"prompt_tokens": 8, "completion_tokens": 12, "total_tokens": 20}


async def test_a_stop_string_ends_the_text(http: aiohttp.ClientSession) -> None:
    async with http.post(COMPLETIONS, json=body(COMPLETIONS)) as response:
        text = (await response.json())["choices"][0]["text"]
    stop = text[10:16]
    async with http.post(COMPLETIONS, json=body(COMPLETIONS, stop=[stop])) as response:
        choice = (await response.json())["choices"][0]
    assert choice["text"] == text[: text.index(stop)]
    assert choice["finish_reason"] == "stop"


async def test_a_seed_repeats_a_sampled_text(http: aiohttp.ClientSession) -> None:
    async def text(seed: int) -> str:
        async with http.post(COMPLETIONS, json=body(COMPLETIONS, temperature=1, seed=seed)) as response:
            return str((await response.json())["choices"][0]["text"])

    first, again, other = await asyncio.gather(text(1), text(1), text(2))
    assert first == again != other


async def test_forty_at_once_are_answered_as_one_by_one(http: aiohttp.ClientSession) -> None:
    async def text(number: int) -> str:
        asked = body(COMPLETIONS, f"{'stone ' * (number % 7)}number {number}", max_tokens=5 + number % 9)
        async with http.post(COMPLETIONS, json=asked) as response:
            answer = await response.json()
        assert answer["usage"]["completion_tokens"] == 5 + number % 9
        return str(answer["choices"][0]["text"])

    together = await asyncio.gather(*map(text, range(40)))
    assert together == [await text(number) for number in range(40)]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_frees_its_slot(http: aiohttp.ClientSession, stream: bool) -> None:
    before = await until(http, running=0)
    async with asyncio.TaskGroup() as group:
        # So many that they cannot all have been answered by the time they are seen running, however busy the machine.
        tasks = [group.create_task(_ask_for_much(http, stream)) for _ in range(16)]
        await until(http, running=16)
        for task in tasks:
            task.cancel()
    after = await until(http, running=0)
    aborted = 'vllm:request_success_total{finished_reason="abort"}'
    assert after[aborted] > before[aborted]
    assert after["vllm:kv_cache_usage_perc{}"] == 0


async def _ask_for_much(http: aiohttp.ClientSession, stream: bool) -> None:
    async with http.post(COMPLETIONS, json=body(COMPLETIONS, max_tokens=1000, stream=stream)) as response:
        await response.read()


async def test_metrics_count_tokens_and_requests(http: aiohttp.ClientSession) -> None:
    before = await until(http, running=0)
    async with http.post(COMPLETIONS, json=body(COMPLETIONS)) as response:
        await response.read()
    after = await until(http, running=0)

    def grown(name: str) -> float:
        return after[name] - before[name]

    assert grown("vllm:prompt_tokens_total{}") == 8
    assert grown("vllm:generation_tokens_total{}") == 12
    assert grown('vllm:request_success_total{finished_reason="length"}') == 1
    assert grown("vllm:time_to_first_token_seconds_count{}") == 1
    assert grown("vllm:e2e_request_latency_seconds_count{}") == 1


async def test_errors_have_openai_s_form(http: aiohttp.ClientSession) -> None:
    assert (await refused(http, COMPLETIONS, 400, data=b"{"))["code"] == "invalid_json"
    assert (await refused(http, COMPLETIONS, 404, json=body(COMPLETIONS, model="x")))["code"] == "model_not_found"
    assert (await refused(http, CHAT, 400, json={"model": MODEL}))["param"] == "messages"
    too_long = await refused(http, CHAT, 400, json=body(CHAT, "x" * 2000, stream=True))
    assert "1024" in too_long["message"]
    assert "2013" in too_long["message"]
    unknown = await refused(http, "/v2/x", 404, method="GET")
    assert unknown["message"].startswith("no such path: GET /v2/x; known: /v1/models")
    assert (await refused(http, COMPLETIONS, 405, method="GET"))["message"] == "/v1/completions does not take GET"
    assert (await refused(http, COMPLETIONS, 413, data=b"x" * 300_000))["code"] == "body_too_large"


async def test_a_full_queue_is_503() -> None:
    engine = Engine(EngineConfig(max_num_seqs=1, max_waiting=1))
    async with TestClient(TestServer(Api(engine).application())) as client:
        asked = body(COMPLETIONS, max_tokens=900)
        async with asyncio.TaskGroup() as group:
            tasks = []
            for running, waiting in ((1, 0), (1, 1)):
                tasks.append(group.create_task(_post(client, asked)))
                await _until_holds(engine.scheduler, running, waiting)
            async with client.post(COMPLETIONS, json=body(COMPLETIONS, stream=True)) as response:
                error = (await response.json())["error"]
            for task in tasks:
                task.cancel()
        assert (response.status, response.headers["Retry-After"]) == (503, "1")
        assert (error["type"], error["code"]) == ("server_error", "queue_full")
        assert error["message"].startswith("the waiting queue is full: 1 requests wait, 1 are allowed")


async def _until_holds(scheduler: Scheduler, running: int, waiting: int) -> None:
    while True:
        if (scheduler.running, scheduler.waiting) == (running, waiting):
            return
        await asyncio.sleep(0.001)


async def _post(client: TestClient[Any, Any], asked: dict[str, Any]) -> int:
    async with client.post(COMPLETIONS, json=asked) as response:
        await response.read()
        return response.status


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_dead_compute_thread_is_told_to_everyone(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(EngineConfig())
    steps = 0
    decode = Transformer.decode

    def broken(*arguments: Any) -> np.ndarray:
        nonlocal steps
        steps += 1
        if steps == 5:
            raise MemoryError("no more")
        return decode(*arguments)

    monkeypatch.setattr(Transformer, "decode", broken)
    async with TestClient(TestServer(Api(engine).application())) as client:
        async with client.post(COMPLETIONS, json=body(COMPLETIONS, stream=True)) as response:
            *_, last, rest = (await response.text()).split("\n\n")
        assert rest == ""
        assert json.loads(last.removeprefix("data: "))["error"]["code"] == "engine_dead"
        for path, method in (("/health", "GET"), (COMPLETIONS, "POST")):
            async with client.request(method, path, json=body(COMPLETIONS)) as response:
                assert response.status == 503
                assert (await response.json())["error"]["code"] == "engine_dead"
