"""Filters in a gateway that serves: behind the faults, on every request, counted, and told in the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from gateway_rig import SEED, TOKEN, ask, cut, echo, error, named, settled, upstream

from chaosgate.gateway.config import GatewayConfig
from chaosgate.gateway.server import Gateway
from chaosgate.gateway.state import RunState
from chaosgate.model.filter import passes_unguarded
from chaosgate.model.stream_edit import StreamEvent
from chaosgate.servers import listen
from chaosgate.sse import EventSplitter

QUESTION = "Which city is it?"
Filters = Sequence[Mapping[str, Any]]


def guarded(url: str, filters: Filters, faults: Sequence[Mapping[str, Any]] = (), unguarded: float = 0.0) -> Gateway:
    names = [fault["name"] for fault in faults]
    config = GatewayConfig.model_validate(
        {
            "upstream": url,
            "run": "run-1",
            "spec": "sha256:abc",
            "seed": SEED,
            "phases": {"baseline": [], "block1": names},
            "faults": faults,
            "filters": filters,
            "unguarded": unguarded,
        }
    )
    return Gateway(RunState(config), listen("127.0.0.1", 0), listen("127.0.0.1", 0), TOKEN)


def injection() -> dict[str, Any]:
    sweep = {"parameter": "probability", "values": ["100 %"], "hold": "2s", "washout": "500ms"}
    return {"name": "hijack", "kind": "prompt.injection", "dose": sweep}


def chat(text: str = QUESTION, **fields: Any) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}], **fields}).encode()


class Model:
    """A server that obeys injected instructions, or gives its `answers` in turn; it keeps what it was asked."""

    def __init__(self, *answers: str, status: int = 200) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self._answers = list(answers)
        self._status = status

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body)
        self.headers.append(dict(request.headers))
        text = self._answers.pop(0) if self._answers else self._obedient(body)
        if body.get("stream"):
            return await self._streamed(request, text)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return web.json_response({"id": "1", "choices": [choice]}, status=self._status)

    def _obedient(self, body: dict[str, Any]) -> str:
        return "CANARY" if "CANARY" in body["messages"][-1]["content"] else "Oslo"

    async def _streamed(self, request: web.Request, text: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for character in text:
            choice = {"index": 0, "delta": {"content": character}, "finish_reason": None}
            await response.write(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")
        last = {"index": 0, "delta": {}, "finish_reason": "stop"}
        await response.write(b"data: " + json.dumps({"choices": [last]}).encode() + b"\n\ndata: [DONE]\n\n")
        return response


def said(body: bytes) -> str:
    return json.loads(body)["choices"][0]["message"]["content"]


def streamed(body: bytes) -> str:
    return "".join(StreamEvent(raw, 0).text for raw in EventSplitter().feed(body))


async def test_without_a_filter_an_injection_is_obeyed_and_with_the_sanitiser_it_never_arrives() -> None:
    answers, arrived = [], []
    for filters in ([], [{"kind": "prompt-sanitiser"}]):
        model = Model()
        async with upstream(model.serve) as url, guarded(url, filters, [injection()]) as gateway:
            gateway.run.windows.open("hijack", 0, 1.0, 60)
            answers.append(said((await ask(gateway.url, chat(), named(1)))[1]))
            arrived.append(model.asked[0]["messages"][0]["content"])
            row = (await settled(gateway))[0]
        assert row["applied"], "the fault attacked either way"
    assert answers == ["CANARY", "Oslo"]
    assert "CANARY" in arrived[0]
    assert arrived[1] == QUESTION
    assert row["filtered"].startswith("prompt-sanitiser rewritten: injection; ")


async def test_a_request_without_an_attack_passes_byte_for_byte() -> None:
    filters = [{"kind": "byte-limit"}, {"kind": "prompt-sanitiser"}, {"kind": "standard-refusal"}]
    body = '{"model" : "m", "messages":[{"role":"user","content":"caf\u00e9 \U0001f469\u200d\U0001f680"}]}'.encode()
    async with upstream(echo) as url, guarded(url, filters) as gateway:
        assert await ask(gateway.url, body) == (200, body)
        assert (await settled(gateway))[0]["filtered"] is None


async def test_a_prompt_above_the_limit_is_refused_with_its_size() -> None:
    model = Model()
    async with upstream(model.serve) as url, guarded(url, [{"kind": "byte-limit"}]) as gateway:
        status, body = await ask(gateway.url, chat("\u00e9" * 64_001))
        assert (await ask(gateway.url, chat("\u00e9" * 64_000)))[0] == 200
        row = (await settled(gateway))[0]
        metrics = gateway.run.metrics.render()
    message = "the prompt has 128,002 bytes, at most 128,000 are allowed; shorten it"
    assert status == 413
    assert json.loads(body)["error"] == {
        "message": message,
        "type": "invalid_request_error",
        "param": None,
        "code": "prompt_too_large",
    }
    assert len(model.asked) == 1
    assert row["filtered"] == f"byte-limit refused: {message}"
    assert 'chaosgate_gateway_filtered_total{filter="byte-limit",action="refused"} 1' in metrics


async def test_the_limit_holds_for_what_a_fault_made_of_a_prompt() -> None:
    sweep = {"parameter": "codePoints", "values": [64], "hold": "2s", "washout": "500ms"}
    flood = {"name": "flood", "kind": "tokenizer.combining-flood", "dose": sweep}
    async with upstream(Model().serve) as url, guarded(url, [{"kind": "byte-limit"}], [flood]) as gateway:
        gateway.run.windows.open("flood", 0, 100_000.0, 60)
        assert (await ask(gateway.url, chat(), named(1)))[0] == 413
        assert (await ask(gateway.url, chat(), named(1, "baseline")))[0] == 200


async def test_an_attack_is_answered_with_the_standard_refusal() -> None:
    filters = [{"kind": "prompt-sanitiser"}, {"kind": "standard-refusal", "text": "No."}]
    model = Model()
    async with upstream(model.serve) as url, guarded(url, filters, [injection()]) as gateway:
        gateway.run.windows.open("hijack", 0, 1.0, 60)
        assert said((await ask(gateway.url, chat(), named(1)))[1]) == "No."
        status, body = await ask(gateway.url, chat(stream=True), named(2))
        rows = await settled(gateway)
    assert (status, streamed(body)) == (200, "No.")
    assert body.endswith(b"data: [DONE]\n\n")
    assert model.asked == []
    assert rows[0]["filtered"].endswith("standard-refusal answered: prompt-sanitiser found an attack")


async def test_what_a_fault_planned_behind_a_refusal_is_told_to_be_answered() -> None:
    filters = [{"kind": "standard-refusal", "deny": ["city"]}]
    async with upstream(Model().serve) as url, guarded(url, filters, [cut()]) as gateway:
        gateway.run.windows.open("cut", 0, 1.0, 60)
        await ask(gateway.url, chat(stream=True), named(1))
        row = (await settled(gateway))[0]
    assert (row["applied"], row["bypassed"]) == (False, "answered by standard-refusal")


async def test_a_request_that_a_fault_answered_reaches_no_filter() -> None:
    async with upstream() as url, guarded(url, [{"kind": "byte-limit", "limit": 1}], [error()]) as gateway:
        gateway.run.windows.open("bad", 0, 1.0, 60)
        assert (await ask(gateway.url, chat(), named(1)))[0] == 503
        assert (await settled(gateway))[0]["filtered"] is None


JSON = {"response_format": {"type": "json_object"}}
FENCED = '```json\n{"city": "Oslo"}\n```'


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_is_repaired(stream: bool) -> None:
    filters = [{"kind": "output-validator", "onInvalid": "repair"}]
    async with upstream(Model(FENCED).serve) as url, guarded(url, filters) as gateway:
        _, body = await ask(gateway.url, chat(stream=stream, **JSON))
        row = (await settled(gateway))[0]
    assert (streamed if stream else said)(body) == '{"city": "Oslo"}'
    assert (b"[DONE]" in body) == stream
    assert row["filtered"].startswith("output-validator repaired: it is no JSON: ")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_valid_answer_passes_byte_for_byte(stream: bool) -> None:
    bodies = []
    for filters in ([], [{"kind": "output-validator"}]):
        async with upstream(Model('{"city": "Oslo"}').serve) as url, guarded(url, filters) as gateway:
            bodies.append(await ask(gateway.url, chat(stream=stream, **JSON)))
    assert bodies[0] == bodies[1]


async def test_an_invalid_answer_is_asked_for_again_and_stays_one_request() -> None:
    model = Model("no", "no", "{}")
    filters = [{"kind": "output-validator", "onInvalid": "retry"}]
    async with upstream(model.serve) as url, guarded(url, filters) as gateway:
        status, body = await ask(gateway.url, chat(**JSON))
        rows = await settled(gateway)
    assert (status, said(body)) == (200, "{}")
    assert model.asked == [json.loads(chat(**JSON))] * 3
    assert len(rows) == 1
    assert rows[0]["filtered"].count("output-validator retried: it is no JSON") == 2


async def test_after_its_retries_an_answer_is_refused() -> None:
    model = Model(*["no"] * 9)
    filters = [{"kind": "output-validator", "onInvalid": "retry", "retries": 1}]
    async with upstream(model.serve) as url, guarded(url, filters) as gateway:
        status, body = await ask(gateway.url, chat(**JSON))
    assert (status, json.loads(body)["error"]["code"], len(model.asked)) == (502, "invalid_answer", 2)


async def test_answers_to_other_requests_and_errors_are_not_held() -> None:
    filters = [{"kind": "output-validator"}]
    async with upstream(Model("plain words").serve) as url, guarded(url, filters) as gateway:
        assert said((await ask(gateway.url, chat()))[1]) == "plain words"
    async with upstream(Model("no", status=429).serve) as url, guarded(url, filters) as gateway:
        assert (await ask(gateway.url, chat(**JSON)))[0] == 429


async def test_a_broken_answer_breaks_at_the_client_too() -> None:
    filters = [{"kind": "output-validator"}]
    async with upstream(Model('{"a": 1}').serve) as url, guarded(url, filters, [cut()]) as gateway:
        gateway.run.windows.open("cut", 0, 1.0, 60)
        with pytest.raises(aiohttp.ClientPayloadError):
            await ask(gateway.url, chat(stream=True, **JSON), named(1))
        assert (await settled(gateway))[0]["applied"]


async def test_an_answer_that_is_judged_is_asked_for_unpacked() -> None:
    model = Model("{}", "{}")
    async with upstream(model.serve) as url, guarded(url, [{"kind": "output-validator"}]) as gateway:
        for fields in (JSON, {}):
            assert (await ask(gateway.url, chat(**fields), {"Accept-Encoding": "gzip"}))[0] == 200
    assert [headers["Accept-Encoding"] for headers in model.headers] == ["identity", "gzip"]


async def test_what_cannot_be_read_passes_and_is_counted() -> None:
    async def several(request: web.Request) -> web.StreamResponse:
        choices = [{"index": number, "message": {"content": "no"}} for number in range(2)]
        return web.json_response({"choices": choices})

    async with upstream(several) as url, guarded(url, [{"kind": "output-validator"}]) as gateway:
        status, body = await ask(gateway.url, chat(**JSON))
        row = (await settled(gateway))[0]
    assert (status, len(json.loads(body)["choices"])) == (200, 2)
    assert row["filtered"] == "output-validator unread: the answer is no completion with one choice"


async def test_filters_stay_after_a_halt() -> None:
    async with upstream(Model().serve) as url, guarded(url, [{"kind": "byte-limit", "limit": 1}]) as gateway:
        gateway.run.windows.halt("enough")
        assert (await ask(gateway.url, chat()))[0] == 413


def test_an_unknown_filter_is_named() -> None:
    with pytest.raises(ValueError, match=r"unknown filter kind 'byte-limt'; did you mean 'byte-limit'\?"):
        guarded("http://127.0.0.1:1", [{"kind": "byte-limt"}])


async def test_unguarded_requests_pass_no_filter_and_the_ledger_says_so() -> None:
    model, share = Model(), 0.4
    arm = [passes_unguarded(share, SEED, f"{SEED}.block1.{number}") for number in range(20)]
    async with (
        upstream(model.serve) as url,
        guarded(url, [{"kind": "prompt-sanitiser"}], [injection()], share) as gateway,
    ):
        gateway.run.windows.open("hijack", 0, 1.0, 60)
        answers = [said((await ask(gateway.url, chat(), named(number)))[1]) for number in range(20)]
        rows = {row["request"]: row for row in await settled(gateway)}
    assert answers == ["CANARY" if unguarded else "Oslo" for unguarded in arm]
    assert {True, False} == set(arm)
    told = [rows[f"{SEED}.block1.{number}"] for number in range(20)]
    assert [row["filtered"] == "unguarded" for row in told] == arm
    assert all(row["applied"] for row in told), "the fault attacks both arms"


async def test_an_unguarded_answer_is_neither_held_nor_judged() -> None:
    validator = {"kind": "output-validator", "when": "always"}
    async with upstream(Model().serve) as url, guarded(url, [validator], unguarded=0.5) as gateway:
        statuses = [(await ask(gateway.url, chat(), named(number)))[0] for number in range(20)]
    arm = [passes_unguarded(0.5, SEED, f"{SEED}.block1.{number}") for number in range(20)]
    assert statuses == [200 if unguarded else 502 for unguarded in arm]
