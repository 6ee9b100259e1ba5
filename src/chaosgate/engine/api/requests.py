"""The bodies of /v1/completions and /v1/chat/completions. Pure: no network, no clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from chaosgate.engine.api import fields
from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.fields import Body
from chaosgate.engine.api.prompts import Tokens, chat_prompt, fitting, prompts
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.api.unsupported import CHAT_ONLY, COMPLETION_ONLY
from chaosgate.engine.network import tokenizer
from chaosgate.engine.network.vocabulary import BOS
from chaosgate.engine.runtime.sampler import Sampling
from chaosgate.engine.runtime.sequence import Generation

DEFAULT_COMPLETION_TOKENS = 16
"""`max_tokens` of /v1/completions when absent, as OpenAI documents it. Chat fills the context instead."""

MAX_STOPS = 4
"""As many stop strings as OpenAI allows."""

MAX_LOGPROBS = 20
"""As many tokens beside the drawn one as OpenAI's chat and vLLM by default allow, here for completions, too."""

MAX_SEED = 2**64 - 1


@dataclass(frozen=True)
class ApiRequest:
    """A request that was understood: what to generate, one for each prompt, and how to answer.

    `echoes` is what stands before each answer; `model` is the name that was asked for.
    """

    generations: tuple[Generation, ...]
    model: str
    chat: bool
    stream: bool
    include_usage: bool
    echoes: tuple[str, ...]

    @property
    def prompt_tokens(self) -> int:
        """Of all prompts together."""
        return sum(len(generation.prompt) for generation in self.generations)


def parse_completion(raw: bytes, served: ServedModel) -> ApiRequest:
    """The body of POST /v1/completions; ApiError says what is wrong with it."""
    body = fields.read_body(raw)
    adapter = served.adapter(body)
    fields.refuse_other_than(body, COMPLETION_ONLY)
    found = prompts(body, "prompt", served)
    max_tokens = fields.integer(body, "max_tokens", 1) or DEFAULT_COMPLETION_TOKENS
    generations = _generations(body, served, adapter, found, max_tokens, _completion_logprobs(body), "prompt")
    return _request(body, generations, chat=False, echoes=_echoes(body, found))


def parse_chat(raw: bytes, served: ServedModel) -> ApiRequest:
    """The body of POST /v1/chat/completions; ApiError says what is wrong with it."""
    body = fields.read_body(raw)
    adapter = served.adapter(body)
    fields.refuse_other_than(body, CHAT_ONLY)
    prompt = chat_prompt(body, served)
    # The newer name wins, as in vLLM.
    asked = fields.integer(body, "max_completion_tokens", 1)
    max_tokens = fields.integer(body, "max_tokens", 1) if asked is None else asked
    generations = _generations(body, served, adapter, [prompt], max_tokens, _chat_logprobs(body), "messages")
    return _request(body, generations, chat=True, echoes=("",))


def _generations(
    body: Body,
    served: ServedModel,
    adapter: str | None,
    found: Sequence[Tokens],
    max_tokens: int | None,
    logprobs: int | None,
    param: str,
) -> tuple[Generation, ...]:
    sampling, stops, grammar = _sampling(body), _stops(body), _grammar(body)
    tenant = adapter or fields.text(body, "user")
    salt = fields.text(body, "cache_salt") or ""
    ignore_eos = fields.boolean(body, "ignore_eos", False)
    return tuple(
        Generation(
            prompt=prompt,
            max_tokens=fitting(prompt, max_tokens, param, served),
            sampling=sampling,
            stops=stops,
            ignore_eos=ignore_eos,
            adapter=adapter,
            tenant=tenant,
            logprobs=logprobs,
            grammar=grammar,
            salt=salt,
        )
        for prompt in found
    )


def _request(body: Body, generations: tuple[Generation, ...], *, chat: bool, echoes: tuple[str, ...]) -> ApiRequest:
    stream = fields.boolean(body, "stream", False)
    return ApiRequest(generations, body["model"], chat, stream, _include_usage(body, stream), echoes)


def _sampling(body: Body) -> Sampling:
    top_p = fields.number(body, "top_p", 1.0, 0.0, 1.0)
    if top_p == 0:
        raise ApiError("top_p: must be above 0", param="top_p", code="invalid_value")
    temperature = fields.number(body, "temperature", 1.0, 0.0, 2.0)
    return Sampling(temperature, top_p, fields.integer(body, "seed", 0, MAX_SEED))


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


def _grammar(body: Body) -> Literal["json"] | None:
    value = body.get("response_format")
    if value is None or value == {"type": "text"}:
        return None
    if value == {"type": "json_object"}:
        return "json"
    raise ApiError(
        'response_format: must be {"type": "text"} or {"type": "json_object"}; the embedded engine keeps to no schema',
        param="response_format",
        code="unsupported_value",
    )


def _completion_logprobs(body: Body) -> int | None:
    # Some clients send false for "none" here.
    return None if body.get("logprobs") is False else fields.integer(body, "logprobs", 0, MAX_LOGPROBS)


def _chat_logprobs(body: Body) -> int | None:
    top = fields.integer(body, "top_logprobs", 0, MAX_LOGPROBS)
    if fields.boolean(body, "logprobs", False):
        return top or 0
    if top:
        raise ApiError('top_logprobs: only allowed with "logprobs": true', param="top_logprobs", code="invalid_value")
    return None


def _echoes(body: Body, found: Sequence[Tokens]) -> tuple[str, ...]:
    if not fields.boolean(body, "echo", False):
        return ("",) * len(found)
    if body.get("logprobs") not in (None, False):
        raise ApiError(
            "echo: not supported together with logprobs, for a prompt has none here; leave one of them out",
            param="echo",
            code="unsupported_value",
        )
    return tuple(tokenizer.decode(prompt[prompt[0] == BOS :]) for prompt in found)


def _include_usage(body: Body, stream: bool) -> bool:
    options = body.get("stream_options")
    if options is None:
        return False
    if not isinstance(options, dict):
        fields.wrong_type("stream_options", "an object", options)
    if not stream:
        raise ApiError('stream_options: only allowed with "stream": true', param="stream_options", code="invalid_value")
    return fields.boolean(options, "include_usage", False)
