"""Whatever a body holds, the engine takes it or it is refused: nothing else, and no crash."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chaosgate.engine.api.embeddings import EmbeddingRequest, parse_embeddings
from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.requests import ApiRequest, parse_chat, parse_completion
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.api.streams import json_response
from chaosgate.engine.api.tokens import detokenize, tokenize
from chaosgate.engine.api.unsupported import CHAT_ONLY, COMPLETION_ONLY, EMBEDDINGS_ONLY
from chaosgate.engine.network.adapters import Adapter
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.runtime.admission import admitted
from chaosgate.engine.runtime.config import ANSWER_FIELDS, EngineConfig
from chaosgate.engine.runtime.responses import ResponseCache
from chaosgate.errors import UsageError

SERVED = ServedModel("m", 64, ("a",))
MODEL = ModelConfig(max_model_len=64)
ADAPTERS = {"a": Adapter("a", 1, 1.0, ())}
PARSERS = (parse_completion, parse_chat, parse_embeddings, tokenize, detokenize)
NAMES = (
    *("prompt", "messages", "input", "tokens", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed"),
    *("stop", "stream", "stream_options", "logprobs", "top_logprobs", "echo", "response_format", "user", "cache_salt"),
    *("ignore_eos", "encoding_format", "dimensions", "add_special_tokens", "return_token_strs"),
    *sorted({*COMPLETION_ONLY, *CHAT_ONLY, *EMBEDDINGS_ONLY}),
)
TEXTS = st.text(st.characters())
"""Lone surrogates, too, which JSON can carry and UTF-8 cannot."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from(["json_object", "user"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from(["role", "content", "type", "text"]), inner, max_size=4)
    ),
    max_leaves=8,
)
BODIES = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)


def outcome(parse: Callable[[bytes, ServedModel], Any], raw: bytes) -> Any:
    """What was understood and could be computed, or the refusal; a crash goes through."""
    try:
        found = parse(raw, SERVED)
    except ApiError as error:
        refusal = error
    else:
        if isinstance(found, ApiRequest | EmbeddingRequest):
            taken(found)
        else:
            json_response(found)
        return found
    assert str(refusal)
    assert 400 <= refusal.status < 500
    json_response(refusal.body())
    return refusal


def taken(asked: ApiRequest | EmbeddingRequest) -> None:
    """What the engine does with a request before it computes."""
    for generation in asked.generations:
        with suppress(UsageError):
            admitted(generation, MODEL, EngineConfig(), ADAPTERS)
        ResponseCache(ANSWER_FIELDS).find(generation, 0.0)


@pytest.mark.thorough
@pytest.mark.parametrize("parse", PARSERS)
@given(body=BODIES, model=st.sampled_from(["m", "m:a"]) | VALUES)
@example(body={"prompt": [[]]}, model="m")
@example(body={"prompt": "hi", "cache_salt": "\ud800", "user": "\ud800", "stop": "\ud800"}, model="m")
@example(body={"prompt": "hi", "seed": 10**4299}, model="m")
@example(body={"messages": [{}]}, model="m")
@example(body={"prompt": "hi", "temperature": 10**400}, model="m")
@example(body={"prompt": "hi", "n": [1], "logit_bias": {"1": float("nan")}}, model="m")
def test_any_json_object(parse: Callable[[bytes, ServedModel], Any], body: dict[str, Any], model: Any) -> None:
    outcome(parse, json.dumps({**body, "model": model}).encode())


@pytest.mark.parametrize("parse", PARSERS)
@given(raw=st.binary() | st.text().map(str.encode) | VALUES.map(json.dumps).map(str.encode))
def test_any_bytes(parse: Callable[[bytes, ServedModel], Any], raw: bytes) -> None:
    outcome(parse, raw)


def test_what_is_understood_comes_through_the_same_way() -> None:
    assert isinstance(outcome(parse_completion, b'{"model": "m", "prompt": "hi"}'), ApiRequest)
    assert isinstance(outcome(parse_completion, b'{"model": "m", "prompt": 5}'), ApiError)
