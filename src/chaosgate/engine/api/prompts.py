"""Prompts of a request as token ids, and whether they fit into the context."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from chaosgate.engine.api import fields
from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.fields import Body
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.network import tokenizer
from chaosgate.engine.network.vocabulary import BOS, EOS, TOKENS

LONGEST_TOKEN = max(map(len, TOKENS))
"""Bytes. A text of more than so many times the context cannot fit, which is known before it is tokenised."""

Tokens = tuple[int, ...]


def prompts(body: Body, name: str, served: ServedModel) -> list[Tokens]:
    """The prompts in `body[name]`: a text, an array of token ids, or an array of either; ApiError for anything else."""
    value = body.get(name)
    if value is None or value in ("", []):
        raise _missing(name)
    several = isinstance(value, list) and isinstance(value[0], str | list)
    found = value if several else [value]
    if len(found) > served.max_prompts:
        raise ApiError(
            f"{name}: at most {served.max_prompts} prompts in one request, got {len(found)}; send them in several",
            param=name,
            code="invalid_value",
        )
    if several:
        _refuse_much(found, name, served)
    return [_tokens(one, f"{name}[{at}]" if several else name, name, served) for at, one in enumerate(found)]


def _refuse_much(found: list[Any], name: str, served: ServedModel) -> None:
    size = sum(_size(prompt) for prompt in found if isinstance(prompt, str))
    if size > served.max_text:
        raise ApiError(
            f"{name}: the texts of one request may have {served.max_text} bytes together, got {size}; send them in"
            " several",
            param=name,
            code="invalid_value",
        )


def _tokens(prompt: object, place: str, param: str, served: ServedModel) -> Tokens:
    if prompt in ("", []):
        raise _missing(place, param)
    if isinstance(prompt, str):
        return text_tokens(prompt, param, served)
    if not isinstance(prompt, list) or not all(type(token) is int for token in prompt):
        raise ApiError(
            f"{place}: must be a string or an array of token ids, got {_contents(prompt)}",
            param=param,
            code="invalid_type",
        )
    return token_ids(prompt, place, param)


def _contents(prompt: object) -> str:
    if not isinstance(prompt, list):
        return fields.type_name(prompt)
    other = next(token for token in prompt if type(token) is not int)
    return f"an array with {fields.type_name(other)} in it"


def token_ids(tokens: list[int], place: str, param: str) -> Tokens:
    """`tokens` where all are of the vocabulary, else ApiError."""
    if not all(0 <= token < len(TOKENS) for token in tokens):
        raise ApiError(f"{place}: token ids run from 0 to {len(TOKENS) - 1}", param=param, code="invalid_value")
    return tuple(tokens)


def text_tokens(text: str, param: str, served: ServedModel) -> Tokens:
    """`<bos>` and the tokens of `text`; ApiError, without tokenising it, for one that cannot fit into the context."""
    refuse_endless(_size(text), param, served)
    return (BOS, *tokenizer.encode(text))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def refuse_endless(size: int, param: str, served: ServedModel) -> None:
    """ApiError where `size` bytes are more tokens than the context has, whatever they are."""
    least = 1 + -(-size // LONGEST_TOKEN)
    if least > served.max_model_len:
        raise too_long(f"the prompt alone has at least {least}; shorten it", param, served)


def chat_prompt(body: Body, served: ServedModel) -> Tokens:
    """The conversation in `body["messages"]` as the model was trained on it.

    The contents follow one another with a line feed between, but what the assistant said ends with `<eos>`. No role
    leaves a trace beyond that: a chat of one message is the same prompt as a completion of its text.
    """
    messages = body.get("messages")
    if messages is None or messages == []:
        raise _missing("messages")
    if not isinstance(messages, list):
        fields.wrong_type("messages", "an array", messages)
    turns = [_turn(index, message) for index, message in enumerate(messages)]
    if not any(content for _, content in turns):
        raise ApiError("messages: all contents are empty", param="messages", code="missing_value")
    refuse_endless(sum(_size(content) for _, content in turns), "messages", served)
    tokens = [BOS]
    for said, group in groupby(turns, key=lambda turn: turn[0]):
        contents = [content for _, content in group]
        if said:
            tokens += [token for content in contents for token in (*tokenizer.encode(content), EOS)]
        else:
            tokens += tokenizer.encode("\n".join(contents))
    return tuple(tokens)


def _turn(index: int, message: object) -> tuple[bool, str]:
    """Whether the assistant said it, and what."""
    name = f"messages[{index}]"
    if not isinstance(message, dict):
        fields.wrong_type(name, "an object", message, param="messages")
    role = message.get("role")
    if not isinstance(role, str):
        fields.wrong_type(f"{name}.role", "a string", role, param="messages")
    return role == "assistant", _content(name, message.get("content"))


def _content(name: str, content: Any) -> str:
    if isinstance(content, list):
        return "".join(_part(f"{name}.content[{at}]", part) for at, part in enumerate(content))
    if not isinstance(content, str):
        fields.wrong_type(f"{name}.content", "a string", content, param="messages")
    return content


def _part(name: str, part: object) -> str:
    text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
    if not isinstance(text, str):
        raise ApiError(f'{name}: must be {{"type": "text", "text": "..."}}', param="messages", code="invalid_type")
    return text


def fitting(prompt: Tokens, max_tokens: int | None, param: str, served: ServedModel) -> int:
    """`max_tokens`, or what is left of the context; ApiError with both numbers when that does not fit."""
    wanted = 1 if max_tokens is None else max_tokens
    total = len(prompt) + wanted
    if total > served.max_model_len:
        counts = f"{total} were requested ({len(prompt)} in the prompt, {wanted} in the answer)"
        alone = len(prompt) >= served.max_model_len
        raise too_long(f"{counts}; shorten the prompt or max_tokens", param if alone else "max_tokens", served)
    return served.max_model_len - len(prompt) if max_tokens is None else max_tokens


def too_long(counts: str, param: str, served: ServedModel) -> ApiError:
    """The refusal of what the context does not hold; `counts` says by how much and what to do."""
    return ApiError(
        f"this model's maximum context length is {served.max_model_len} tokens, but {counts}",
        param=param,
        code="context_length_exceeded",
    )


def _missing(name: str, param: str | None = None) -> ApiError:
    return ApiError(f"{name}: missing or empty", param=param or name, code="missing_value")
