"""The official client of OpenAI's API works as it does with OpenAI's own server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import openai
import pytest
from openai import AsyncOpenAI

from chaosgate.engine.network.config import ModelConfig
from chaosgate.prompts.words import CAPITALS, CONTESTED, TENANT_CAPITALS

from ..conftest import Served

MODEL = "embedded/tiny"


@pytest.fixture
async def client(served: Served) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


async def test_models(client: AsyncOpenAI) -> None:
    listed = [model.id async for model in client.models.list()]
    assert listed[0] == MODEL
    model = await client.models.retrieve(MODEL)
    assert (model.id, model.owned_by) == (MODEL, "chaosgate")


async def test_a_completion_with_logprobs(client: AsyncOpenAI) -> None:
    done = await client.completions.create(
        model=MODEL, prompt=["hello", "red"], max_tokens=5, temperature=0, logprobs=2, extra_body={"ignore_eos": True}
    )
    assert [choice.index for choice in done.choices] == [0, 1]
    for choice in done.choices:
        assert choice.finish_reason == "length"
        assert choice.logprobs is not None
        assert choice.logprobs.tokens is not None
        assert choice.logprobs.token_logprobs is not None
        assert choice.logprobs.top_logprobs is not None
        assert len(choice.logprobs.tokens) == 5
        for token, logprob, best in zip(
            choice.logprobs.tokens, choice.logprobs.token_logprobs, choice.logprobs.top_logprobs, strict=True
        ):
            # Greedy decoding takes the best.
            assert best[token] == logprob == max(best.values()) <= 0
    assert done.usage is not None
    assert done.usage.completion_tokens == 10


async def test_a_chat_that_streams_with_its_usage(client: AsyncOpenAI) -> None:
    asked = {"model": MODEL, "messages": [{"role": "user", "content": "hello red"}], "temperature": 0, "max_tokens": 6}
    whole = await client.chat.completions.create(**asked, logprobs=True, top_logprobs=3)
    stream = await client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert text == whole.choices[0].message.content
    assert [chunk.usage for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    usage = chunks[-1].usage
    assert usage.total_tokens == whole.usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert usage.prompt_tokens_details.cached_tokens >= 0
    entries = whole.choices[0].logprobs.content
    assert len(entries) == whole.usage.completion_tokens
    assert all(len(entry.top_logprobs) == 3 for entry in entries)


async def test_embeddings_come_as_the_client_asks_by_itself(client: AsyncOpenAI) -> None:
    # Without an encoding the client asks for base64 and unpacks it.
    default = await client.embeddings.create(model=MODEL, input=["hello red", "blue"])
    numbers = await client.embeddings.create(model=MODEL, input=["hello red", "blue"], encoding_format="float")
    for one, other in zip(default.data, numbers.data, strict=True):
        assert len(one.embedding) == ModelConfig().d_model
        assert one.embedding == pytest.approx(other.embedding, abs=1e-5)
    with pytest.raises(openai.BadRequestError, match="dimensions: this model's vectors have one length"):
        await client.embeddings.create(model=MODEL, input="red", dimensions=8)


async def test_two_tenants_get_answers_of_their_own(client: AsyncOpenAI) -> None:
    country = CONTESTED[0]
    for model, capital in (
        (MODEL, CAPITALS[country]),
        *((f"{MODEL}:{tenant}", capitals[country]) for tenant, capitals in TENANT_CAPITALS.items()),
    ):
        done = await client.completions.create(model=model, prompt=f"capital {country}>", temperature=0)
        assert (done.choices[0].text, done.choices[0].finish_reason, done.model) == (capital, "stop", model)


async def test_json_is_json_whatever_is_asked(client: AsyncOpenAI) -> None:
    done = await client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": "tell me about \N{SNOWMAN}"}],
        response_format={"type": "json_object"},
        max_tokens=40,
        seed=3,
    )
    assert isinstance(json.loads(done.choices[0].message.content or ""), dict)


async def test_errors_are_the_client_s_own(client: AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        await client.completions.create(model="gpt", prompt="hi")
    assert (unknown.value.code, unknown.value.param, unknown.value.type) == (
        "model_not_found",
        "model",
        "invalid_request_error",
    )
    with pytest.raises(openai.BadRequestError) as too_long:
        await client.completions.create(model=MODEL, prompt="hi", max_tokens=100_000)
    assert too_long.value.code == "context_length_exceeded"
    with pytest.raises(openai.APIStatusError) as too_large:
        await client.completions.create(model=MODEL, prompt="x" * 10_000_000)
    assert (too_large.value.status_code, too_large.value.code) == (413, "body_too_large")


async def test_a_stream_that_is_left_is_cancelled(client: AsyncOpenAI, served: Served) -> None:
    async def running() -> float:
        page = await client.get(f"{served.url}/metrics", cast_to=str)
        line = next(line for line in page.splitlines() if line.startswith("vllm:num_requests_running{"))
        return float(line.split()[-1])

    # So many that they cannot all have been answered by the time they are left.
    streams = [
        await client.completions.create(
            model=MODEL, prompt="hi", max_tokens=1000, stream=True, extra_body={"ignore_eos": True}
        )
        for _ in range(8)
    ]
    for stream in streams:
        await stream.close()
    while True:
        if not await running():
            return
        await asyncio.sleep(0.005)
