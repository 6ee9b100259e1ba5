from __future__ import annotations

import json
from typing import Any

import pytest

from chaosgate.engine.api.answers import Answer, error_event
from chaosgate.engine.api.requests import parse_chat, parse_completion
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.runtime.sequence import Delta

SERVED = ServedModel("m", 64)
FIRST = Delta("red", None, 1.0, token=5, logprob=-0.5, cached=2)
LAST = Delta("", "stop", 2.0, token=6, logprob=-1.0, cached=2)
OTHER = Delta("x", "length", 2.0, token=7, logprob=-2.0, cached=1)


def completion(**body: Any) -> Answer:
    asked = parse_completion(json.dumps({"model": "m", "prompt": "hi", **body}).encode(), SERVED)
    return Answer("cmpl-1", 9, asked)


def chat(**body: Any) -> Answer:
    messages = [{"role": "user", "content": "hi"}]
    return Answer(
        "chatcmpl-1", 9, parse_chat(json.dumps({"model": "m", "messages": messages, **body}).encode(), SERVED)
    )


def data(event: bytes) -> dict[str, Any]:
    """The one JSON event in `event`; asserts its framing."""
    assert event.startswith(b"data: ")
    assert event.endswith(b"\n\n")
    assert event.count(b"\n") == 2
    return dict(json.loads(event.removeprefix(b"data: ")))


def test_a_whole_completion() -> None:
    assert completion().whole([[FIRST, LAST]]) == {
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 9,
        "model": "m",
        "choices": [{"index": 0, "text": "red", "logprobs": None, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 3,
            "completion_tokens": 2,
            "total_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 2},
        },
    }


def test_a_whole_chat() -> None:
    answer = chat(logprobs=True).whole([[FIRST, LAST]])
    assert answer["object"] == "chat.completion"
    (choice,) = answer["choices"]
    assert choice["message"] == {"role": "assistant", "content": "red"}
    assert [entry["logprob"] for entry in choice["logprobs"]["content"]] == [-0.5, -1.0]


def test_several_prompts_are_choices_with_one_usage() -> None:
    answer = completion(prompt=["hi", "ab"], echo=True).whole([[FIRST, LAST], [OTHER]])
    assert [(choice["index"], choice["text"]) for choice in answer["choices"]] == [(0, "hired"), (1, "abx")]
    assert [choice["finish_reason"] for choice in answer["choices"]] == ["stop", "length"]
    assert (answer["usage"]["completion_tokens"], answer["usage"]["prompt_tokens"]) == (3, 6)
    assert answer["usage"]["prompt_tokens_details"] == {"cached_tokens": 3}


def test_the_events_of_a_chat() -> None:
    answer = chat(stream=True)
    assert data(answer.opening(0)) == {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 9,
        "model": "m",
        "choices": [
            {"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None, "finish_reason": None}
        ],
    }
    first, last = data(answer.token(0, FIRST)), data(answer.token(0, LAST))
    assert first["choices"] == [{"index": 0, "delta": {"content": "red"}, "logprobs": None, "finish_reason": None}]
    assert last["choices"] == [{"index": 0, "delta": {"content": ""}, "logprobs": None, "finish_reason": "stop"}]


def test_the_events_of_a_completion_with_its_prompt_and_logprobs() -> None:
    assert completion(stream=True).opening(0) == b""
    opening = data(completion(stream=True, echo=True).opening(0))
    assert opening["choices"] == [{"index": 0, "text": "hi", "logprobs": None, "finish_reason": None}]
    answer = completion(stream=True, logprobs=0)
    offsets = [data(answer.token(0, delta))["choices"][0]["logprobs"]["text_offset"] for delta in (FIRST, LAST)]
    assert offsets == [[0], [3]], "where in the whole text it stands, not in the piece"


@pytest.mark.parametrize("make", [chat, completion])
def test_usage_is_null_in_each_event_and_told_in_the_last(make: Any) -> None:
    answer = make(stream=True, stream_options={"include_usage": True})
    assert data(answer.token(0, FIRST))["usage"] is None
    answer.token(0, LAST)
    closing = data(answer.closing())
    assert closing["choices"] == []
    assert closing["usage"] == answer.usage()
    assert closing["usage"]["completion_tokens"] == 2
    assert "usage" not in data(make(stream=True).token(0, FIRST))


def test_a_model_name_with_quotes_stays_json() -> None:
    asked = parse_completion(json.dumps({"model": 'a"\\\n', "prompt": "hi"}).encode(), ServedModel('a"\\\n', 64))
    assert data(Answer("i", 9, asked).token(0, FIRST))["model"] == 'a"\\\n'


def test_an_error_in_the_middle_of_a_stream_is_an_event() -> None:
    assert data(error_event({"error": {"message": "gone"}})) == {"error": {"message": "gone"}}
