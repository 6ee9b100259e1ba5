from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.engine.api import prompts
from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.prompts import LONGEST_TOKEN, chat_prompt, text_tokens
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.network import tokenizer
from chaosgate.engine.network.vocabulary import BOS

SERVED = ServedModel("m", 32)
LONGEST = LONGEST_TOKEN * 31


@given(st.text(max_size=400))
def test_a_text_that_is_refused_unread_would_not_have_fitted(text: str) -> None:
    tokens = (BOS, *tokenizer.encode(text))
    try:
        assert text_tokens(text, "prompt", SERVED) == tokens
    except ApiError:
        assert len(tokens) > SERVED.max_model_len


def test_a_text_that_cannot_fit_is_not_tokenised(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(text: str) -> list[int]:
        raise AssertionError("tokenised")

    monkeypatch.setattr(prompts.tokenizer, "encode", never)
    message = "this model's maximum context length is 32 tokens, but the prompt alone has at least 33; shorten it"
    bodies: list[dict[str, Any]] = [
        {"prompt": "x" * (LONGEST + 1)},
        {"prompt": ["x" * (LONGEST + 1)]},
        {"messages": [{"role": "user", "content": "x" * LONGEST}, {"role": "user", "content": "x"}]},
    ]
    for body in bodies:
        with pytest.raises(ApiError) as caught:
            chat_prompt(body, SERVED) if "messages" in body else prompts.prompts(body, "prompt", SERVED)
        assert str(caught.value) == message
    with pytest.raises(AssertionError, match="tokenised"):
        text_tokens("x" * LONGEST, "prompt", SERVED)


def test_the_texts_of_a_list_are_limited_together(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[str] = []
    monkeypatch.setattr(prompts.tokenizer, "encode", lambda text: encoded.append(text) or [1])
    served = ServedModel("m", 32, max_text=100)
    assert len(prompts.prompts({"prompt": ["x" * 60, [1] * 200, "\u00e9" * 20]}, "prompt", served)) == 3
    encoded.clear()
    with pytest.raises(ApiError) as caught:
        prompts.prompts({"prompt": ["x" * 60, [1] * 200, "\u00e9" * 20 + "x"]}, "prompt", served)
    assert str(caught.value) == (
        "prompt: the texts of one request may have 100 bytes together, got 101; send them in several"
    )
    assert (caught.value.param, encoded) == ("prompt", [])


def test_a_lone_surrogate_is_no_crash() -> None:
    assert text_tokens("a\ud800", "prompt", SERVED) == (BOS, ord("a"), ord("?"))
    assert chat_prompt({"messages": [{"role": "user", "content": "\ud800"}]}, SERVED) == (BOS, ord("?"))
