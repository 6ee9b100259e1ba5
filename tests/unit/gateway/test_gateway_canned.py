"""The gateway's own answers have the form of a model's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chaosgate.gateway.canned import canned_answer
from chaosgate.model.request_facts import RequestFacts
from chaosgate.sse import EventSplitter, event_data

CHAT, PLAIN = "/v1/chat/completions", "/v1/completions"


def answer(path: str, **body: Any) -> bytes:
    response = canned_answer(RequestFacts(path, {}, {"model": "m", **body}), "No.")
    assert isinstance(response.body, bytes)
    return response.body


def chunks(body: bytes) -> list[Any]:
    *events, last = [event_data(raw) for raw in EventSplitter().feed(body)]
    assert last == "[DONE]"
    return [json.loads(data or "") for data in events]


@pytest.mark.parametrize(
    ("path", "name", "said"),
    [
        (CHAT, "chat.completion", {"message": {"role": "assistant", "content": "No."}}),
        (PLAIN, "text_completion", {"text": "No."}),
    ],
)
def test_a_completion_has_the_form_of_its_path(path: str, name: str, said: dict[str, Any]) -> None:
    data = json.loads(answer(path))
    assert (data["object"], data["model"]) == (name, "m")
    assert data["choices"] == [{"index": 0, **said, "logprobs": None, "finish_reason": "content_filter"}]


@pytest.mark.parametrize("path", [CHAT, PLAIN])
def test_a_stream_says_it_and_then_ends(path: str) -> None:
    said, end = [chunk["choices"][0] for chunk in chunks(answer(path, stream=True))]
    assert (said["delta"]["content"] if path == CHAT else said["text"]) == "No."
    assert (said["finish_reason"], end["finish_reason"]) == (None, "content_filter")


def test_a_stream_counts_its_tokens_where_that_is_asked() -> None:
    last = chunks(answer(CHAT, stream=True, stream_options={"include_usage": True}))[-1]
    assert last["choices"] == []
    assert last["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
