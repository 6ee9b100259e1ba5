"""Requests and answers in the form of OpenAI's API. Pure: no network, no clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chaosgate.engine import fields, tokenizer
from chaosgate.engine.errors import ApiError
from chaosgate.engine.fields import Body
from chaosgate.engine.sampler import Sampling
from chaosgate.engine.sequence import Generation
from chaosgate.engine.vocabulary import BOS, TOKENS

DEFAULT_COMPLETION_TOKENS = 16
"""`max_tokens` of /v1/completions when absent, as OpenAI documents it. Chat fills the context instead."""

MAX_STOPS = 4
"""As many stop strings as OpenAI allows."""


@dataclass(frozen=True)
class ServedModel:
    """What a request is checked against."""

    name: str
    max_model_len: int


@dataclass(frozen=True)
class ApiRequest:
    """A request that was understood: what to generate and how to answer."""

    generation: Generation
    chat: bool
    stream: bool
    include_usage: bool


def parse_completion(raw: bytes, served: ServedModel) -> ApiRequest:
    """The body of POST /v1/completions; ApiError says what is wrong with it."""
    body = _checked(raw, served)
    return _request(body, served, chat=False, prompt=_prompt(body), max_tokens=_completion_tokens(body))


def parse_chat(raw: bytes, served: ServedModel) -> ApiRequest:
    """The body of POST /v1/chat/completions; ApiError says what is wrong with it."""
    body = _checked(raw, served)
    asked = fields.integer(body, "max_completion_tokens", 1) or fields.integer(body, "max_tokens", 1)
    return _request(body, served, chat=True, prompt=_chat_prompt(body), max_tokens=asked)


def _checked(raw: bytes, served: ServedModel) -> Body:
    body = fields.read_body(raw)
    model = body.get("model")
    if not isinstance(model, str):
        fields.wrong_type("model", f'a string such as "{served.name}"', model)
    if model != served.name:
        raise ApiError(
            f'the model "{model}" does not exist; this engine serves "{served.name}"',
            status=404,
            param="model",
            code="model_not_found",
        )
    fields.refuse_unsupported(body)
    return body


def _request(body: Body, served: ServedModel, *, chat: bool, prompt: list[int], max_tokens: int | None) -> ApiRequest:
    stream = fields.boolean(body, "stream", False)
    generation = Generation(
        prompt=tuple(prompt),
        max_tokens=_fitting(len(prompt), max_tokens, served.max_model_len),
        sampling=_sampling(body),
        stops=_stops(body),
        ignore_eos=fields.boolean(body, "ignore_eos", False),
    )
    return ApiRequest(generation, chat, stream, _include_usage(body, stream))


def _completion_tokens(body: Body) -> int:
    return fields.integer(body, "max_tokens", 1) or DEFAULT_COMPLETION_TOKENS


def _fitting(prompt: int, max_tokens: int | None, limit: int) -> int:
    """`max_tokens`, or what is left of the context; ApiError with both numbers when that does not fit."""
    wanted = 1 if max_tokens is None else max_tokens
    if prompt + wanted > limit:
        raise ApiError(
            f"this model's maximum context length is {limit} tokens, but {prompt + wanted} were requested"
            f" ({prompt} in the prompt, {wanted} in the answer); shorten the prompt or max_tokens",
            param="max_tokens" if prompt < limit else "prompt",
            code="context_length_exceeded",
        )
    return limit - prompt if max_tokens is None else max_tokens


def _sampling(body: Body) -> Sampling:
    top_p = fields.number(body, "top_p", 1.0, 0.0, 1.0)
    if top_p == 0:
        raise ApiError("top_p: must be above 0", param="top_p", code="invalid_value")
    return Sampling(fields.number(body, "temperature", 1.0, 0.0, 2.0), top_p, fields.integer(body, "seed", 0))


def _stops(body: Body) -> tuple[str, ...]:
    value = body.get("stop")
    stops = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) and stop for stop in stops):
        raise ApiError(
            "stop: must be a string or an array of strings, none of them empty", param="stop", code="invalid_type"
        )
    if len(stops) > MAX_STOPS:
        raise ApiError(f"stop: at most {MAX_STOPS} strings, got {len(stops)}", param="stop", code="invalid_value")
    return tuple(stops)


def _include_usage(body: Body, stream: bool) -> bool:
    options = body.get("stream_options")
    if options is None:
        return False
    if not isinstance(options, dict):
        fields.wrong_type("stream_options", "an object", options)
    if not stream:
        raise ApiError('stream_options: only allowed with "stream": true', param="stream_options", code="invalid_value")
    return fields.boolean(options, "include_usage", False)


def _prompt(body: Body) -> list[int]:
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str | list):
        prompt = prompt[0]
    if prompt is None or prompt in ("", []):
        raise ApiError("prompt: missing or empty", param="prompt", code="missing_value")
    if isinstance(prompt, str):
        return [BOS, *tokenizer.encode(prompt)]
    if not isinstance(prompt, list) or not all(type(token) is int for token in prompt):
        raise ApiError(
            f"prompt: must be one string or one array of token ids, got {fields.type_name(prompt)}",
            param="prompt",
            code="invalid_type",
        )
    if not all(0 <= token < len(TOKENS) for token in prompt):
        raise ApiError(f"prompt: token ids run from 0 to {len(TOKENS) - 1}", param="prompt", code="invalid_value")
    return prompt


def _chat_prompt(body: Body) -> list[int]:
    """The contents of all messages, a line break between them.

    The roles leave no trace: a chat of one message is the same prompt as a completion of its text.
    """
    messages = body.get("messages")
    if messages is None or messages == []:
        raise ApiError("messages: missing or empty", param="messages", code="missing_value")
    if not isinstance(messages, list):
        fields.wrong_type("messages", "an array", messages)
    contents = [_content(index, message) for index, message in enumerate(messages)]
    if not any(contents):
        raise ApiError("messages: all contents are empty", param="messages", code="missing_value")
    return [BOS, *tokenizer.encode("\n".join(contents))]


def _content(index: int, message: object) -> str:
    name = f"messages[{index}]"
    if not isinstance(message, dict):
        fields.wrong_type(name, "an object", message)
    if not isinstance(message.get("role"), str):
        fields.wrong_type(f"{name}.role", "a string", message.get("role"))
    content = message.get("content")
    if isinstance(content, list):
        return "".join(_part(f"{name}.content[{at}]", part) for at, part in enumerate(content))
    return content if isinstance(content, str) else fields.wrong_type(f"{name}.content", "a string", content)


def _part(name: str, part: object) -> str:
    text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
    if not isinstance(text, str):
        raise ApiError(f'{name}: must be {{"type": "text", "text": "..."}}', param="messages", code="invalid_type")
    return text


@dataclass(frozen=True)
class Answer:
    """Writes the answers to one request. `created` is in seconds since the epoch."""

    id: str
    created: int
    model: str
    chat: bool
    prompt_tokens: int

    def whole(self, text: str, finish: str, tokens: int) -> Body:
        """The answer to a request that does not stream."""
        return self._envelope(
            "chat.completion" if self.chat else "text_completion",
            [
                self._choice(
                    {"message": {"role": "assistant", "content": text}} if self.chat else {"text": text}, finish
                )
            ],
            usage=self.usage(tokens),
        )

    def opening(self) -> Body:
        """The first event of a chat stream, which carries the role and no token."""
        return self._chunk({"delta": {"role": "assistant", "content": ""}}, None)

    def token(self, text: str, finish: str | None) -> Body:
        """The event of one generated token; that of the last one has the finish reason."""
        return self._chunk({"delta": {"content": text}} if self.chat else {"text": text}, finish)

    def closing(self, tokens: int) -> Body:
        """The event after the last token of a stream that asked for its usage: no choices, only numbers."""
        return self._envelope(self._chunk_object, [], usage=self.usage(tokens))

    def usage(self, tokens: int) -> Body:
        """Token counts of prompt and answer."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": tokens,
            "total_tokens": self.prompt_tokens + tokens,
        }

    @property
    def _chunk_object(self) -> str:
        return "chat.completion.chunk" if self.chat else "text_completion"

    def _chunk(self, content: Body, finish: str | None) -> Body:
        return self._envelope(self._chunk_object, [self._choice(content, finish)])

    def _choice(self, content: Body, finish: str | None) -> Body:
        return {"index": 0, **content, "logprobs": None, "finish_reason": finish}

    def _envelope(self, kind: str, choices: list[Body], **more: Any) -> Body:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
            **more,
        }
