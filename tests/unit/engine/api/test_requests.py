from __future__ import annotations

import json
from typing import Any

import pytest

from chaosgate.engine.api import requests
from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.requests import ApiRequest
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.network.vocabulary import BOS, EOS
from chaosgate.engine.runtime.sampler import Sampling
from chaosgate.engine.runtime.sequence import Generation

SERVED = ServedModel("m", 1024, ("tenant-a",), max_prompts=3)
HI = [{"role": "user", "content": "hi"}]


def completion(**body: Any) -> ApiRequest:
    return requests.parse_completion(json.dumps({"model": "m", "prompt": "hi", **body}).encode(), SERVED)


def chat(**body: Any) -> ApiRequest:
    return requests.parse_chat(json.dumps({"model": "m", "messages": HI, **body}).encode(), SERVED)


def only(asked: ApiRequest) -> Generation:
    (generation,) = asked.generations
    return generation


def refusal(parse: Any, **body: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        parse(**body)
    return caught.value


def test_defaults_are_openai_s() -> None:
    asked = completion()
    assert only(asked) == Generation((BOS, ord("h"), ord("i")), 16, Sampling(1.0, 1.0, None))
    assert (asked.chat, asked.stream, asked.include_usage, asked.echoes) == (False, False, False, ("",))
    assert only(chat()).max_tokens == 1024 - 3
    # What a client sends beyond what is known is ignored, as vLLM does.
    assert completion(store=True, surprise={"x": 1}, metadata=None) == asked


def test_all_that_can_be_asked() -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}, "stop": "x", "ignore_eos": True}
    more = {"cache_salt": "s", "user": "u", "logprobs": 3}
    asked = completion(max_tokens=3, temperature=0, top_p=0.5, seed=9, **options, **more)
    prompt = (BOS, ord("h"), ord("i"))
    assert only(asked) == Generation(
        prompt, 3, Sampling(0.0, 0.5, 9), ("x",), ignore_eos=True, tenant="u", logprobs=3, salt="s"
    )
    assert (asked.stream, asked.include_usage) == (True, True)
    assert only(completion(stop=["a", "b"], seed=None)).stops == ("a", "b")
    assert only(chat(max_completion_tokens=5, max_tokens=6)).max_tokens == 5
    assert only(chat(max_tokens=6)).max_tokens == 6


def test_an_adapter_is_a_model_and_a_tenant() -> None:
    asked = chat(model="m:tenant-a", user="u")
    assert (only(asked).adapter, only(asked).tenant, asked.model) == ("tenant-a", "tenant-a", "m:tenant-a")


@pytest.mark.parametrize(
    ("body", "logprobs"),
    [({}, None), ({"logprobs": False}, None), ({"logprobs": True}, 0), ({"logprobs": True, "top_logprobs": 20}, 20)],
)
def test_logprobs_of_a_chat(body: dict[str, Any], logprobs: int | None) -> None:
    assert only(chat(**body)).logprobs == logprobs


def test_json_can_be_asked_for_in_a_chat() -> None:
    assert only(chat(response_format={"type": "json_object"})).grammar == "json"
    assert only(chat(response_format={"type": "text"})).grammar is None
    error = refusal(chat, response_format={"type": "json_schema", "json_schema": {}})
    assert (error.code, error.param) == ("unsupported_value", "response_format")
    assert str(error) == (
        'response_format: must be {"type": "text"} or {"type": "json_object"}; the embedded engine keeps to no schema'
    )


def test_several_prompts_are_one_generation_each() -> None:
    asked = completion(prompt=["hi", [5, 6]], max_tokens=3)
    assert [one.prompt for one in asked.generations] == [(BOS, 104, 105), (5, 6)]
    assert [one.max_tokens for one in asked.generations] == [3, 3]
    assert asked.prompt_tokens == 5
    assert len(completion(prompt=["a", "b", "c"]).generations) == 3


def test_an_echo_is_the_text_of_the_prompt() -> None:
    asked = completion(prompt=["hi", [BOS, 104], [105, 106]], echo=True)
    assert asked.echoes == ("hi", "h", "ij")


def test_prompt_forms() -> None:
    assert only(completion(prompt=["hi"])).prompt == (BOS, 104, 105)
    assert only(completion(prompt=[5, 6])).prompt == (5, 6)
    assert only(completion(prompt=[[5, 6]])).prompt == (5, 6)


def test_a_chat_of_one_message_is_the_prompt_of_its_text() -> None:
    assert only(chat()).prompt == only(completion()).prompt
    parts = [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]
    assert only(chat(messages=[{"role": "user", "content": parts}])).prompt == only(completion()).prompt
    two = chat(messages=[{"role": "system", "content": "hi"}, {"role": "user", "content": "hi"}])
    assert only(two).prompt == only(completion(prompt="hi\nhi")).prompt


def test_what_the_assistant_said_ends_as_the_model_was_trained_to_end_it() -> None:
    said = [("user", "a"), ("assistant", "b"), ("user", "c"), ("user", "d"), ("assistant", "e"), ("user", "f")]
    prompt = only(chat(messages=[{"role": role, "content": content} for role, content in said])).prompt
    assert prompt == (BOS, *b"a", *b"b", EOS, *b"c\nd", *b"e", EOS, *b"f")


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        ({"model": 3}, "model", 'model: must be a string such as "m", got a number'),
        ({"prompt": None}, "prompt", "prompt: missing or empty"),
        ({"prompt": ""}, "prompt", "prompt: missing or empty"),
        ({"prompt": []}, "prompt", "prompt: missing or empty"),
        ({"prompt": [""]}, "prompt", "prompt[0]: missing or empty"),
        ({"prompt": ["a", ""]}, "prompt", "prompt[1]: missing or empty"),
        ({"prompt": {}}, "prompt", "prompt: must be a string or an array of token ids, got an object"),
        (
            {"prompt": [5, "a"]},
            "prompt",
            "prompt: must be a string or an array of token ids, got an array with a string in it",
        ),
        (
            {"prompt": [True]},
            "prompt",
            "prompt: must be a string or an array of token ids, got an array with a boolean in it",
        ),
        ({"prompt": ["a", 5]}, "prompt", "prompt[1]: must be a string or an array of token ids, got a number"),
        ({"prompt": [5, 512]}, "prompt", "prompt: token ids run from 0 to 511"),
        ({"prompt": [[5], [-1]]}, "prompt", "prompt[1]: token ids run from 0 to 511"),
        ({"prompt": list("abcd")}, "prompt", "prompt: at most 3 prompts in one request, got 4; send them in several"),
        ({"max_tokens": "5"}, "max_tokens", "max_tokens: must be an integer, got a string"),
        ({"max_tokens": True}, "max_tokens", "max_tokens: must be an integer, got a boolean"),
        ({"max_tokens": 0}, "max_tokens", "max_tokens: must be at least 1, got 0"),
        ({"temperature": "hot"}, "temperature", "temperature: must be a number, got a string"),
        ({"temperature": -1}, "temperature", "temperature: must be from 0 to 2, got -1"),
        ({"temperature": float("nan")}, "temperature", "temperature: must be from 0 to 2, got NaN"),
        ({"top_p": 0}, "top_p", "top_p: must be above 0"),
        ({"seed": -1}, "seed", "seed: must be from 0 to 18446744073709551615, got -1"),
        ({"user": 5}, "user", "user: must be a string, got a number"),
        ({"logprobs": 21}, "logprobs", "logprobs: must be from 0 to 20, got 21"),
        ({"logprobs": True}, "logprobs", "logprobs: must be an integer, got a boolean"),
        (
            {"echo": True, "logprobs": 1},
            "echo",
            "echo: not supported together with logprobs, for a prompt has none here; leave one of them out",
        ),
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
        (
            {"n": True},
            "n",
            "n: true is not supported by the embedded engine; leave the field out or set it to 1",
        ),
        (
            {"response_format": {"type": "json_object"}},
            "response_format",
            'response_format: {"type": "json_object"} is not supported by the embedded engine; leave the field out or'
            ' set it to {"type": "text"}',
        ),
        (
            {"top_k": 5},
            "top_k",
            "top_k: 5 is not supported by the embedded engine; leave the field out or set it to -1",
        ),
    ],
)
def test_what_a_completion_refuses(body: dict[str, Any], param: str, message: str) -> None:
    error = refusal(completion, **body)
    assert (error.status, error.param, str(error)) == (400, param, message)
    assert error.body()["error"]["type"] == "invalid_request_error"
    assert error.code


@pytest.mark.parametrize("ask", [completion, chat])
@pytest.mark.parametrize(
    ("name", "value", "instead"),
    [
        ("tool_choice", "required", '"none"'),
        ("tool_choice", {"type": "function", "function": {"name": "f"}}, '"none"'),
        ("guided_json", {}, "null"),
        ("guided_regex", "x+", "null"),
        ("guided_choice", ["a"], "null"),
        ("guided_grammar", "g", "null"),
        ("structured_outputs", {"json": {}}, "null"),
        ("allowed_token_ids", [5], "null"),
        ("truncate_prompt_tokens", 1, "null"),
        ("include_stop_str_in_output", True, "false"),
        ("skip_special_tokens", False, "true"),
        ("length_penalty", 0.5, "1"),
        ("use_beam_search", True, "false"),
        ("prompt_embeds", "AAAA", "null"),
        ("return_token_ids", True, "false"),
        ("add_generation_prompt", False, "true"),
        ("chat_template", "{{ messages }}", "null"),
    ],
)
def test_what_would_change_the_answer_and_is_not_done_is_refused(ask: Any, name: str, value: Any, instead: str) -> None:
    error = refusal(ask, **{name: value})
    assert (error.status, error.param, error.code) == (400, name, "unsupported_value")
    assert str(error) == (
        f"{name}: {json.dumps(value)} is not supported by the embedded engine; leave the field out or set it to"
        f" {instead}"
    )


@pytest.mark.parametrize(
    "body",
    [
        {"tool_choice": "auto"},
        {"tool_choice": "none", "tools": []},
        {"length_penalty": 1.0, "use_beam_search": False, "add_generation_prompt": True},
        {"allowed_token_ids": None, "guided_json": None},
    ],
)
def test_what_changes_nothing_is_taken(body: dict[str, Any]) -> None:
    assert completion(**body) == completion()
    assert chat(**body) == chat()


def test_what_only_one_of_the_two_does_is_refused_by_the_other() -> None:
    assert refusal(chat, echo=True).param == "echo"
    assert refusal(chat, add_special_tokens=True).param == "add_special_tokens"
    assert refusal(completion, add_special_tokens=False).param == "add_special_tokens"
    assert chat(echo=False, add_special_tokens=False) == chat()


@pytest.mark.parametrize(
    ("messages", "param", "message"),
    [
        (None, "messages", "messages: missing or empty"),
        ([], "messages", "messages: missing or empty"),
        ("hi", "messages", "messages: must be an array, got a string"),
        (["hi"], "messages", "messages[0]: must be an object, got a string"),
        ([{"content": "hi"}], "messages", "messages[0].role: must be a string, got null"),
        ([{"role": "user"}], "messages", "messages[0].content: must be a string, got null"),
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


def test_top_logprobs_want_logprobs() -> None:
    error = refusal(chat, top_logprobs=2)
    assert (error.param, str(error)) == ("top_logprobs", 'top_logprobs: only allowed with "logprobs": true')


@pytest.mark.parametrize(
    ("raw", "why"), [(b"", "Expecting value"), (b"{", "Expecting property"), (b"\xff", "byte 1 is no UTF-8")]
)
def test_no_json_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(ApiError, match=f"the body is no JSON: {why}") as caught:
        requests.parse_completion(raw, SERVED)
    assert caught.value.code == "invalid_json"


def test_json_that_lies_too_deep_is_refused() -> None:
    for raw in (b"[" * 100_000, b'{"prompt":' * 50_000):
        with pytest.raises(ApiError) as caught:
            requests.parse_completion(raw, SERVED)
        assert str(caught.value) == "the body is no JSON: its objects or arrays lie too deep in one another"


def test_json_with_an_endless_integer_is_refused() -> None:
    with pytest.raises(ApiError) as caught:
        requests.parse_completion(b'{"seed": ' + b"9" * 5000 + b"}", SERVED)
    assert str(caught.value) == "the body is no JSON: it has an integer of more than 4300 digits"


def test_json_that_is_no_object_is_refused() -> None:
    with pytest.raises(ApiError, match="the body must be a JSON object, got an array"):
        requests.parse_chat(b"[]", SERVED)


def test_a_context_too_long_names_both_numbers() -> None:
    error = refusal(completion, prompt="x" * 1009, max_tokens=16)
    assert str(error) == (
        "this model's maximum context length is 1024 tokens, but 1026 were requested (1010 in the prompt, 16 in the"
        " answer); shorten the prompt or max_tokens"
    )
    assert (error.code, error.param) == ("context_length_exceeded", "max_tokens")
    assert only(completion(prompt="x" * 1007, max_tokens=16)).max_tokens == 16
    assert refusal(chat, messages=[{"role": "user", "content": "x" * 1023}]).param == "messages"
    assert only(chat(messages=[{"role": "user", "content": "x" * 1022}])).max_tokens == 1
