from __future__ import annotations

import json
from typing import Any

import pytest

from chaosgate.engine import openai_api
from chaosgate.engine.errors import ApiError
from chaosgate.engine.openai_api import ApiRequest, ServedModel
from chaosgate.engine.sampler import Sampling
from chaosgate.engine.vocabulary import BOS

SERVED = ServedModel("m", 1024)
HI = [{"role": "user", "content": "hi"}]


def completion(**body: Any) -> ApiRequest:
    return openai_api.parse_completion(json.dumps({"model": "m", "prompt": "hi", **body}).encode(), SERVED)


def chat(**body: Any) -> ApiRequest:
    return openai_api.parse_chat(json.dumps({"model": "m", "messages": HI, **body}).encode(), SERVED)


def refusal(parse: Any, **body: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        parse(**body)
    return caught.value


def test_defaults_are_openai_s() -> None:
    asked = completion()
    assert asked.generation.prompt == (BOS, ord("h"), ord("i"))
    assert asked.generation.max_tokens == 16
    assert asked.generation.sampling == Sampling(1.0, 1.0, None)
    assert (asked.chat, asked.stream, asked.include_usage) == (False, False, False)
    assert chat().generation.max_tokens == 1024 - 3


def test_all_that_can_be_asked() -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}, "stop": "x", "ignore_eos": True}
    asked = completion(max_tokens=3, temperature=0, top_p=0.5, seed=9, **options)
    assert asked.generation.sampling == Sampling(0.0, 0.5, 9)
    assert asked.generation.stops == ("x",)
    assert asked.generation.ignore_eos
    assert (asked.stream, asked.include_usage) == (True, True)
    assert completion(stop=["a", "b"], seed=None).generation.stops == ("a", "b")
    assert chat(max_completion_tokens=5).generation.max_tokens == 5


def test_prompt_forms() -> None:
    assert completion(prompt=["hi"]).generation.prompt == (BOS, 104, 105)
    assert completion(prompt=[5, 6]).generation.prompt == (5, 6)
    assert completion(prompt=[[5, 6]]).generation.prompt == (5, 6)


def test_a_chat_of_one_message_is_the_prompt_of_its_text() -> None:
    assert chat().generation.prompt == completion().generation.prompt
    parts = [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]
    assert chat(messages=[{"role": "user", "content": parts}]).generation.prompt == completion().generation.prompt
    two = chat(messages=[{"role": "system", "content": "hi"}, {"role": "user", "content": "hi"}])
    assert two.generation.prompt == completion(prompt="hi\nhi").generation.prompt


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        ({"model": 3}, "model", 'model: must be a string such as "m", got a number'),
        ({"prompt": None}, "prompt", "prompt: missing or empty"),
        ({"prompt": ""}, "prompt", "prompt: missing or empty"),
        ({"prompt": []}, "prompt", "prompt: missing or empty"),
        ({"prompt": [""]}, "prompt", "prompt: missing or empty"),
        ({"prompt": {}}, "prompt", "prompt: must be one string or one array of token ids, got an object"),
        ({"prompt": ["a", "b"]}, "prompt", "prompt: must be one string or one array of token ids, got an array"),
        ({"prompt": [5, 512]}, "prompt", "prompt: token ids run from 0 to 511"),
        ({"max_tokens": "5"}, "max_tokens", "max_tokens: must be an integer, got a string"),
        ({"max_tokens": True}, "max_tokens", "max_tokens: must be an integer, got a boolean"),
        ({"max_tokens": 0}, "max_tokens", "max_tokens: must be at least 1, got 0"),
        ({"temperature": "hot"}, "temperature", "temperature: must be a number, got a string"),
        ({"temperature": -1}, "temperature", "temperature: must be from 0.0 to 2.0, got -1"),
        ({"temperature": float("nan")}, "temperature", "temperature: must be from 0.0 to 2.0, got nan"),
        ({"top_p": 0}, "top_p", "top_p: must be above 0"),
        ({"seed": -1}, "seed", "seed: must be at least 0, got -1"),
        ({"stream": "yes"}, "stream", "stream: must be a boolean, got a string"),
        ({"stop": [1]}, "stop", "stop: must be a string or an array of strings, none of them empty"),
        ({"stop": ""}, "stop", "stop: must be a string or an array of strings, none of them empty"),
        ({"stop": list("abcde")}, "stop", "stop: at most 4 strings, got 5"),
        ({"stream_options": {}}, "stream_options", 'stream_options: only allowed with "stream": true'),
        ({"stream": True, "stream_options": 1}, "stream_options", "stream_options: must be an object, got a number"),
        (
            {"n": 2},
            "n",
            "n: 2 is not supported by the embedded engine; leave the field out or set it to 1",
        ),
    ],
)
def test_what_a_completion_refuses(body: dict[str, Any], param: str, message: str) -> None:
    error = refusal(completion, **body)
    assert (error.status, error.param, str(error)) == (400, param, message)
    assert error.body()["error"]["type"] == "invalid_request_error"
    assert error.code


@pytest.mark.parametrize(
    ("messages", "param", "message"),
    [
        (None, "messages", "messages: missing or empty"),
        ([], "messages", "messages: missing or empty"),
        ("hi", "messages", "messages: must be an array, got a string"),
        (["hi"], "messages[0]", "messages[0]: must be an object, got a string"),
        ([{"content": "hi"}], "messages[0].role", "messages[0].role: must be a string, got null"),
        ([{"role": "user"}], "messages[0].content", "messages[0].content: must be a string, got null"),
        ([{"role": "user", "content": ""}], "messages", "messages: all contents are empty"),
        (
            [{"role": "user", "content": [{"type": "image_url"}]}],
            "messages",
            'messages[0].content[0]: must be {"type": "text", "text": "..."}',
        ),
    ],
)
def test_what_a_chat_refuses(messages: Any, param: str, message: str) -> None:
    error = refusal(chat, messages=messages)
    assert (error.status, error.param, str(error)) == (400, param, message)


def test_an_unknown_model_is_not_found() -> None:
    error = refusal(completion, model="gpt")
    assert (error.status, error.code) == (404, "model_not_found")
    assert str(error) == 'the model "gpt" does not exist; this engine serves "m"'


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"[" * 100_000])
def test_no_json_is_refused(raw: bytes) -> None:
    with pytest.raises(ApiError, match="the body is no JSON") as caught:
        openai_api.parse_completion(raw, SERVED)
    assert caught.value.code == "invalid_json"


def test_json_that_is_no_object_is_refused() -> None:
    with pytest.raises(ApiError, match="the body must be a JSON object, got an array"):
        openai_api.parse_chat(b"[]", SERVED)


def test_a_context_too_long_names_both_numbers() -> None:
    error = refusal(completion, prompt="x" * 1009, max_tokens=16)
    assert str(error).startswith("this model's maximum context length is 1024 tokens, but 1026 were requested")
    assert "(1010 in the prompt, 16 in the answer)" in str(error)
    assert (error.code, error.param) == ("context_length_exceeded", "max_tokens")
    assert completion(prompt="x" * 1007, max_tokens=16).generation.max_tokens == 16
    assert refusal(chat, messages=[{"role": "user", "content": "x" * 1023}]).param == "prompt"
    assert chat(messages=[{"role": "user", "content": "x" * 1022}]).generation.max_tokens == 1
