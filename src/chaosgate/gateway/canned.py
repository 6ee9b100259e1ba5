"""An answer that the gateway gives in a model's place, in the form in which a model's would have come."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from chaosgate.gateway.own_answers import json_answer
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.stream_edit import encode
from chaosgate.sse import DONE_EVENT

FINISH = "content_filter"
"""OpenAI's finish reason for content that a filter left out."""
_NO_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def canned_answer(facts: RequestFacts, text: str) -> web.Response:
    """`text` as a completion, of a chat or plain, streamed where the request asked for a stream."""
    chat = facts.path.endswith("/chat/completions")
    head = {"id": "cmpl-chaosgate", "created": int(time.time()), "model": facts.model or "unknown"}
    if facts.stream:
        body = b"".join((*_events(facts, head, text, chat), DONE_EVENT))
        return web.Response(body=body, headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    choice = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
    name = "chat.completion" if chat else "text_completion"
    answer = {**head, "object": name, "choices": [_choice(choice, FINISH)], "usage": _NO_USAGE}
    return json_answer(200, answer)


def _events(facts: RequestFacts, head: Mapping[str, Any], text: str, chat: bool) -> list[bytes]:
    head = {**head, "object": "chat.completion.chunk" if chat else "text_completion"}
    said: dict[str, Any] = {"delta": {"role": "assistant", "content": text}} if chat else {"text": text}
    end: dict[str, Any] = {"delta": {}} if chat else {"text": ""}
    chunks = [{**head, "choices": [_choice(said, None)]}, {**head, "choices": [_choice(end, FINISH)]}]
    options = (facts.body or {}).get("stream_options")
    if isinstance(options, Mapping) and options.get("include_usage") is True:
        chunks.append({**head, "choices": [], "usage": _NO_USAGE})
    return [encode(chunk) for chunk in chunks]


def _choice(said: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, **said, "logprobs": None, "finish_reason": finish}
