"""Reading what is sent to the admin port: small, finite, well-formed JSON, or a sentence that says what is wrong."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from chaosgate.model.base import Frozen
from chaosgate.registry import unknown
from chaosgate.strict_json import parse_json

MAX_BODY = 64 * 1024
MAX_DEPTH = 16
"""Levels of nesting in a body; `detail` is meant for a few facts."""
MAX_TTL = 3600.0
"""The longest time to live of a window, in seconds."""


class BadPayload(ValueError):
    """A body that is refused; the text says what was read and what is allowed."""


class Payload(Frozen):
    """A body of the admin API: numbers are not read from strings, nor truth values as numbers."""

    model_config = ConfigDict(strict=True)


class WindowPayload(Payload):
    """The body of PUT /v1/faults/{name}."""

    dose: Annotated[float, Field(ge=0)]
    window: Annotated[int, Field(ge=0, le=1_000_000)]
    ttl: Annotated[float, Field(gt=0, le=MAX_TTL)]


class HaltPayload(Payload):
    """The body of POST /v1/halt."""

    reason: Annotated[str, Field(min_length=1, max_length=1000)]


class EventPayload(Payload):
    """The body of POST /v1/timeline. The events `on`, `off` and `halt` are the gateway's own."""

    event: Literal["started", "done", "subject", "proof", "injected"]
    phase: str | None = None
    fault: str | None = None
    window: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    dose: Annotated[float, Field(ge=0)] | None = None
    detail: dict[str, Any] = {}


Model = TypeVar("Model", bound=Payload)


def read_payload(body: bytes, model: type[Model]) -> Model:
    """The body as `model`; BadPayload names every key that is wrong."""
    try:
        data = parse_json(body.decode())
    except (ValueError, RecursionError) as error:
        raise BadPayload(f"the body is no JSON object: {error}") from error
    if not isinstance(data, dict):
        raise BadPayload(f"the body is a JSON {type(data).__name__}; an object is needed")
    _check(data, MAX_DEPTH)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise BadPayload("; ".join(_sentence(item, model) for item in error.errors())) from error


def _check(value: Any, depth: int) -> None:
    """Refuse what could not be written as JSON again: deep nesting, and surrogates that are no character."""
    if depth == 0:
        raise BadPayload(f"the body is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, str) and not value.isprintable():
        _check_text(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check(key, depth - 1)
            _check(item, depth - 1)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth - 1)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadPayload("the body has half of a surrogate pair in a text; write whole characters") from error


def _sentence(item: ErrorDetails, model: type[Payload]) -> str:
    where = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return unknown("key", where, model.model_fields)
    if item["type"] == "missing":
        return f"{where}: is missing"
    return f"{where}: read {repr(item['input'])[:80]}; {item['msg'][0].lower()}{item['msg'][1:]}"
