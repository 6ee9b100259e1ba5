"""Answers in the form of OpenAI's API. Pure: no network, no clock."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chaosgate.engine.api.requests import ApiRequest
from chaosgate.engine.api.token_text import chat_logprobs, completion_logprobs
from chaosgate.engine.runtime.sequence import Delta

Body = dict[str, Any]

encode_json = json.JSONEncoder(separators=(",", ":")).encode


@dataclass
class Written:
    """What was written of one choice so far; `cached` counts the prompt tokens that the cache had already."""

    characters: int = 0
    tokens: int = 0
    cached: int = 0

    def add(self, delta: Delta) -> None:
        """One more token was written."""
        self.characters += len(delta.text)
        self.tokens += 1
        self.cached = delta.cached


@dataclass
class Answer:
    """Writes the answer to one request. `created` is in seconds since the epoch."""

    id: str
    created: int
    asked: ApiRequest
    choices: list[Written] = field(init=False)

    def __post_init__(self) -> None:
        self.choices = [Written(characters=len(echo)) for echo in self.asked.echoes]
        kind = "chat.completion.chunk" if self.asked.chat else "text_completion"
        # Every event of a stream begins alike. With usage asked for, OpenAI sends the field in each of them, null up to
        # the last.
        head = {"id": self.id, "object": kind, "created": self.created, "model": self.asked.model}
        self._head = f'data: {encode_json(head)[:-1]},"choices":['
        self._tail = '],"usage":null}\n\n' if self.asked.include_usage else "]}\n\n"

    def whole(self, answered: Sequence[Sequence[Delta]]) -> Body:
        """The answer to a request that does not stream: the tokens of each choice."""
        for written, deltas in zip(self.choices, answered, strict=True):
            for delta in deltas:
                written.add(delta)
        return {
            "id": self.id,
            "object": "chat.completion" if self.asked.chat else "text_completion",
            "created": self.created,
            "model": self.asked.model,
            "choices": [self._whole_choice(index, deltas) for index, deltas in enumerate(answered)],
            "usage": self.usage(),
        }

    def _whole_choice(self, index: int, deltas: Sequence[Delta]) -> Body:
        echo = self.asked.echoes[index]
        text = echo + "".join(delta.text for delta in deltas)
        content = {"message": {"role": "assistant", "content": text}} if self.asked.chat else {"text": text}
        return _choice(index, content, self._logprobs(index, deltas, len(echo)), deltas[-1].finish)

    def opening(self, index: int) -> bytes:
        """The event before the first token of a choice: a chat's role, or the echoed prompt; empty without either."""
        if self.asked.chat:
            return self._event(_choice(index, {"delta": {"role": "assistant", "content": ""}}, None, None))
        echo = self.asked.echoes[index]
        return self._event(_choice(index, {"text": echo}, None, None)) if echo else b""

    def token(self, index: int, delta: Delta) -> bytes:
        """The event of one generated token; that of the last one has the finish reason."""
        written = self.choices[index]
        logprobs = self._logprobs(index, (delta,), written.characters)
        written.add(delta)
        content = {"delta": {"content": delta.text}} if self.asked.chat else {"text": delta.text}
        return self._event(_choice(index, content, logprobs, delta.finish))

    def closing(self) -> bytes:
        """The event after the last token of a stream that asked for its usage: no choices, only numbers."""
        return f'{self._head}],"usage":{encode_json(self.usage())}}}\n\n'.encode()

    def usage(self) -> Body:
        """Token counts of prompts and answers."""
        prompt, completion = self.asked.prompt_tokens, sum(written.tokens for written in self.choices)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": sum(written.cached for written in self.choices)},
        }

    def _logprobs(self, index: int, deltas: Sequence[Delta], offset: int) -> Body | None:
        if self.asked.generations[index].logprobs is None:
            return None
        return chat_logprobs(deltas) if self.asked.chat else completion_logprobs(deltas, offset)

    def _event(self, choice: Body) -> bytes:
        return f"{self._head}{encode_json(choice)}{self._tail}".encode()


def error_event(body: Body) -> bytes:
    """The event of a stream that broke off: too late for a status, so the stream itself says why."""
    return f"data: {encode_json(body)}\n\n".encode()


def _choice(index: int, content: Body, logprobs: Body | None, finish: str | None) -> Body:
    return {"index": index, **content, "logprobs": logprobs, "finish_reason": finish}
