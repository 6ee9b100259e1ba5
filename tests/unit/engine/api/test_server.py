"""The HTTP interface, against a server process."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

import aiohttp
import numpy as np
import pytest
from aiohttp.test_utils import TestClient, TestServer

import chaosgate
from chaosgate.engine.api.server import Api
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.network.weights import seeded
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.engine import Engine
from chaosgate.engine.runtime.scheduler import Scheduler
from chaosgate.model.sites import Hooks, SiteContext

from ..conftest import Served
from .test_metrics import parse

MODEL = "embedded/tiny"
COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"


@pytest.fixture
async def http(untrained: Served) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(untrained.url, connector=aiohttp.TCPConnector(limit=0)) as session:
        yield session


def body(path: str, text: str = "hello red", **more: Any) -> dict[str, Any]:
    asked = {"messages": [{"role": "user", "content": text}]} if path == CHAT else {"prompt": text}
    return {"model": MODEL, "temperature": 0, "max_tokens": 12, "ignore_eos": True, **asked, **more}


async def events(response: aiohttp.ClientResponse) -> list[dict[str, Any]]:
    """The JSON events of a stream; asserts its framing and its end."""
    assert response.status == 200
    assert response.content_type == "text/event-stream"
    *blocks, last, rest = (await response.text()).split("\n\n")
    assert (last, rest) == ("data: [DONE]", "")
    assert all(block.startswith("data: ") for block in blocks)
    return [json.loads(block.removeprefix("data: ")) for block in blocks]


def counts(usage: dict[str, Any]) -> tuple[int, int, int]:
    return usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]


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
    entry, *adapters = listing["data"]
    assert (entry["id"], entry["object"], entry["max_model_len"]) == (MODEL, "model", ModelConfig().max_model_len)
    assert entry["chaosgate"] == {
        "weights_digest": seeded(ModelConfig(), 7).digest(),
        "engine": "embedded",
        "engine_version": chaosgate.__version__,
        "arguments": json.loads(json.dumps(asdict(EngineConfig(seed=7)))),
    }
    assert [adapter["parent"] for adapter in adapters] == [MODEL] * len(adapters)
    async with http.get(f"/v1/models/{MODEL}") as response:
        assert await response.json() == entry
    assert (await refused(http, "/v1/models/other", 404, method="GET"))["code"] == "model_not_found"


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
    assert counts(whole["usage"]) == (8, 12, 20)


async def test_usage_comes_last_where_asked_for(http: aiohttp.ClientSession) -> None:
    asked = body(CHAT, stream=True, stream_options={"include_usage": True})
    async with http.post(CHAT, json=asked) as response:
        *others, last = await events(response)
    assert all(event["usage"] is None and event["object"] == "chat.completion.chunk" for event in others)
    assert last["choices"] == []
    assert counts(last["usage"]) == (8, 12, 20)
    assert last["usage"]["prompt_tokens_details"]["cached_tokens"] >= 0


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


async def test_several_prompts_are_answered_like_each_alone(http: aiohttp.ClientSession) -> None:
    prompts = ["red", "hello blue", [257, 104]]
    alone = []
    for prompt in prompts:
        async with http.post(COMPLETIONS, json=body(COMPLETIONS, prompt=prompt)) as response:
            alone.append((await response.json())["choices"][0]["text"])
    async with http.post(COMPLETIONS, json=body(COMPLETIONS, prompt=prompts)) as response:
        together = (await response.json())["choices"]
    assert [(choice["index"], choice["text"]) for choice in together] == list(enumerate(alone))
    async with http.post(COMPLETIONS, json=body(COMPLETIONS, prompt=prompts, stream=True, echo=True)) as response:
        choices = [event["choices"][0] for event in await events(response)]
    texts = ["".join(choice["text"] for choice in choices if choice["index"] == index) for index in range(3)]
    assert texts == [f"{echo}{text}" for echo, text in zip(["red", "hello blue", "h"], alone, strict=True)]
    assert sorted(choice["index"] for choice in choices if choice["finish_reason"]) == [0, 1, 2]


async def test_several_prompts_of_which_one_finds_no_place_are_refused_as_one() -> None:
    engine = Engine(EngineConfig(seed=7, max_num_seqs=1, max_waiting=2))
    async with TestClient(TestServer(Api(engine).application())) as client, asyncio.TaskGroup() as group:
        first = group.create_task(_post(client, body(COMPLETIONS, max_tokens=900)))
        await _until_holds(engine.scheduler, 1, 0)
        second = group.create_task(_post(client, body(COMPLETIONS, max_tokens=900)))
        await _until_holds(engine.scheduler, 1, 1)
        async with client.post(COMPLETIONS, json=body(COMPLETIONS, prompt=["a", "b"], stream=True)) as response:
            assert (response.status, (await response.json())["error"]["code"]) == (503, "queue_full")
        await _until_holds(engine.scheduler, 1, 1)
        first.cancel()
        second.cancel()


async def test_embeddings_of_one_text_are_the_same_and_of_another_are_not(http: aiohttp.ClientSession) -> None:
    async def vectors(given: Any, **more: Any) -> list[Any]:
        async with http.post("/v1/embeddings", json={"model": MODEL, "input": given, **more}) as response:
            assert response.status == 200
            return [entry["embedding"] for entry in (await response.json())["data"]]

    red, blue = await vectors(["hello red", "hello blue"])
    assert np.linalg.norm(red) == pytest.approx(1, abs=1e-5)
    assert len(red) == ModelConfig().d_model
    np.testing.assert_allclose((await vectors("hello red"))[0], red, atol=1e-5)
    assert np.dot(red, blue) < 0.999
    (coded,) = await vectors("hello red", encoding_format="base64")
    np.testing.assert_allclose(np.frombuffer(base64.b64decode(coded), "<f4"), red, atol=1e-5)


async def test_tokenize_and_detokenize(http: aiohttp.ClientSession) -> None:
    async with http.post("/tokenize", json={"prompt": "hello red"}) as response:
        tokens = (await response.json())["tokens"]
    async with http.post("/detokenize", json={"tokens": tokens}) as response:
        assert await response.json() == {"prompt": "hello red"}


async def test_a_large_body_is_tokenised_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    reading: list[str] = []

    def slow(text: str) -> list[int]:
        reading.append(text)
        begun.set()
        assert go_on.wait(20)
        return [1]

    monkeypatch.setattr("chaosgate.engine.network.tokenizer.encode", slow)
    async with TestClient(TestServer(Api(Engine(EngineConfig(seed=7))).application())) as client:
        async with asyncio.TaskGroup() as group:
            large = group.create_task(client.post("/tokenize", json={"prompt": "x" * 8000}))
            await asyncio.to_thread(begun.wait, 20)
            async with client.get("/health") as response:
                assert response.status == 200
            others = [group.create_task(client.post("/tokenize", json={"prompt": "y" * 8000})) for _ in range(3)]
            # Whoever leaves while it is read does not make room for a second reader.
            large.cancel()
            await asyncio.sleep(0.1)
            assert [text[0] for text in reading] == ["x"], "one at a time"
            go_on.set()
        assert [(await other.result().json())["count"] for other in others] == [2, 2, 2]


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
    assert grown("vllm:prefix_cache_queries_total{}") == 8
    assert grown("vllm:request_queue_time_seconds_count{}") == 1
    assert grown("vllm:time_to_first_token_seconds_count{}") == 1
    assert grown("vllm:inter_token_latency_seconds_count{}") == 11
    assert grown("vllm:e2e_request_latency_seconds_count{}") == 1


async def test_the_prefix_cache_counts_what_it_looked_up() -> None:
    asked = body(COMPLETIONS, "x" * 40, max_tokens=1)
    for sharing, looked_up, found in ((True, 2 * 41, 32), (False, 0, 0)):
        engine = Engine(EngineConfig(seed=7, enable_prefix_caching=sharing))
        async with TestClient(TestServer(Api(engine).application())) as client:
            for _ in range(2):
                async with client.post(COMPLETIONS, json=asked) as response:
                    await response.read()
            async with client.get("/metrics") as response:
                samples = parse(await response.text())
        assert samples["vllm:prompt_tokens_total{}"] == 82
        assert samples["vllm:prefix_cache_queries_total{}"] == looked_up
        assert samples["vllm:prefix_cache_hits_total{}"] == found


async def test_errors_have_openai_s_form(http: aiohttp.ClientSession) -> None:
    assert (await refused(http, COMPLETIONS, 400, data=b"{"))["code"] == "invalid_json"
    assert (await refused(http, COMPLETIONS, 404, json=body(COMPLETIONS, model="x")))["code"] == "model_not_found"
    assert (await refused(http, CHAT, 400, json={"model": MODEL}))["param"] == "messages"
    too_long = await refused(http, CHAT, 400, json=body(CHAT, "x" * 2000, stream=True))
    assert too_long["message"].startswith("this model's maximum context length is 1024 tokens, but")
    unknown = await refused(http, "/v2/x", 404, method="GET")
    assert unknown["message"] == (
        "no such path: GET /v2/x; known: /detokenize, /health, /metrics, /tokenize, /v1/chat/completions,"
        " /v1/completions, /v1/embeddings, /v1/models, /v1/models/{model}"
    )
    assert (await refused(http, COMPLETIONS, 405, method="GET"))["message"] == "/v1/completions does not take GET"


async def test_a_full_queue_is_503() -> None:
    engine = Engine(EngineConfig(seed=7, max_num_seqs=1, max_waiting=1))
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


async def test_what_the_engine_itself_refuses_is_the_client_s_mistake(http: aiohttp.ClientSession) -> None:
    asked = body(CHAT, response_format={"type": "json_object"}, max_tokens=1)
    error = await refused(http, CHAT, 400, json=asked)
    assert (error["type"], error["code"]) == ("invalid_request_error", "invalid_value")
    assert error["message"].startswith("grammar json needs max_tokens of")


async def test_a_request_whose_hook_fails_is_an_error_of_the_server_and_the_others_go_on() -> None:
    def broken(array: Any, context: SiteContext) -> Any:
        if context.first > 20:
            raise ZeroDivisionError("of a fault")
        return array

    engine = Engine(EngineConfig(seed=7), hooks=Hooks({"logits": broken}))
    async with TestClient(TestServer(Api(engine).application())) as client:
        async with client.post(COMPLETIONS, json=body(COMPLETIONS, max_tokens=200)) as response:
            error = (await response.json())["error"]
        assert (response.status, error["type"], error["code"]) == (500, "server_error", "request_failed")
        async with client.post(COMPLETIONS, json=body(COMPLETIONS, max_tokens=200, stream=True)) as response:
            *_, last, _ = (await response.text()).split("\n\n")
        assert (response.status, json.loads(last.removeprefix("data: "))["error"]["code"]) == (200, "request_failed")
        async with client.post(COMPLETIONS, json=body(COMPLETIONS, max_tokens=5)) as response:
            assert response.status == 200


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_dead_compute_thread_is_told_to_everyone(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(EngineConfig(seed=7))
    steps = 0
    forward = Transformer.forward

    def broken(*arguments: Any) -> np.ndarray:
        nonlocal steps
        steps += 1
        if steps == 5:
            raise MemoryError("no more")
        return forward(*arguments)

    monkeypatch.setattr(Transformer, "forward", broken)
    async with TestClient(TestServer(Api(engine).application())) as client:
        async with client.post(COMPLETIONS, json=body(COMPLETIONS, stream=True)) as response:
            *_, last, rest = (await response.text()).split("\n\n")
        assert rest == ""
        assert json.loads(last.removeprefix("data: "))["error"]["code"] == "engine_dead"
        for path, method in (("/health", "GET"), (COMPLETIONS, "POST")):
            async with client.request(method, path, json=body(COMPLETIONS)) as response:
                assert response.status == 503
                assert (await response.json())["error"]["code"] == "engine_dead"
