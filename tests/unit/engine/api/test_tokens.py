from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.prompts import LONGEST_TOKEN
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.api.tokens import detokenize, tokenize
from chaosgate.engine.network.vocabulary import BOS, EOS

SERVED = ServedModel("m", 64)


def asked(call: Any, **body: Any) -> Any:
    return call(json.dumps(body).encode(), SERVED)


def test_a_prompt_becomes_tokens_with_their_number() -> None:
    answer = asked(tokenize, model="m", prompt="hi", return_token_strs=True)
    assert answer == {"count": 3, "max_model_len": 64, "tokens": [BOS, 104, 105], "token_strs": ["<bos>", "h", "i"]}
    assert asked(tokenize, prompt="hi", add_special_tokens=False)["tokens"] == [104, 105]
    assert asked(tokenize, prompt="x" * 100)["count"] == 101, "also where the context does not hold it"


def test_messages_become_the_tokens_of_the_chat() -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert asked(tokenize, messages=messages)["tokens"] == [BOS, 97, 98, EOS]


@given(st.text(st.characters(), max_size=60))
def test_what_was_tokenised_comes_back(text: str) -> None:
    tokens = asked(tokenize, prompt=text)["tokens"]
    # A lone surrogate has no UTF-8 form.
    assert asked(detokenize, tokens=tokens) == {"prompt": text.encode("utf-8", "replace").decode()}


@pytest.mark.parametrize(
    ("call", "body", "message"),
    [
        (tokenize, {}, 'prompt: missing; send "prompt" or "messages"'),
        (tokenize, {"prompt": 5}, "prompt: must be a string, got a number"),
        (tokenize, {"model": "x", "prompt": "a"}, 'the model "x" does not exist; this engine serves "m"'),
        (
            tokenize,
            {"prompt": "x" * (63 * LONGEST_TOKEN + 1)},
            "this model's maximum context length is 64 tokens, but the prompt alone has at least 65; shorten it",
        ),
        (
            tokenize,
            {"messages": [{"role": "user", "content": "a"}], "add_generation_prompt": False},
            "add_generation_prompt: false is not supported by the embedded engine; leave the field out or set it to"
            " true",
        ),
        (detokenize, {}, "tokens: must be an array of token ids, got null"),
        (detokenize, {"tokens": [True]}, "tokens: must be an array of token ids, got an array"),
        (detokenize, {"tokens": [512]}, "tokens: token ids run from 0 to 511"),
    ],
)
def test_what_is_refused(call: Any, body: dict[str, Any], message: str) -> None:
    with pytest.raises(ApiError) as caught:
        asked(call, **body)
    assert str(caught.value) == message
