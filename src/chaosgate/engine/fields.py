"""Single fields of a JSON body, read strictly. Absent and null are the same, as in OpenAI's API."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from chaosgate.engine.errors import ApiError

Body = dict[str, Any]

# Fields that change the answer when set to anything but these, and that this engine does not carry out.
_ONLY = {
    "n": (1,),
    "best_of": (1,),
    "echo": (False,),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "suffix": ("",),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "logit_bias": ({},),
    "tools": ([],),
    "functions": ([],),
    "response_format": ({"type": "text"},),
}


def read_body(raw: bytes) -> Body:
    """The JSON object in `raw`; ApiError when it is none."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ApiError(f"the body is no JSON: {error}", code="invalid_json") from error
    if not isinstance(body, dict):
        raise ApiError(f"the body must be a JSON object, got {type_name(body)}", code="invalid_json")
    return body


def refuse_unsupported(body: Body) -> None:
    """ApiError for a known field whose value asks for something this engine does not do."""
    for name, allowed in _ONLY.items():
        value = body.get(name)
        if value is not None and value not in allowed:
            raise ApiError(
                f"{name}: {json.dumps(value)[:80]} is not supported by the embedded engine; leave the field out or"
                f" set it to {json.dumps(allowed[0])}",
                param=name,
                code="unsupported_value",
            )


def boolean(body: Body, name: str, default: bool) -> bool:
    """`body[name]`, true or false."""
    value = body.get(name)
    if value is None:
        return default
    return value if isinstance(value, bool) else wrong_type(name, "a boolean", value)


def integer(body: Body, name: str, low: int) -> int | None:
    """`body[name]`, a whole number of at least `low`; None when absent."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        wrong_type(name, "an integer", value)
    if value < low:
        raise ApiError(f"{name}: must be at least {low}, got {value}", param=name, code="invalid_value")
    return value


def number(body: Body, name: str, default: float, low: float, high: float) -> float:
    """`body[name]`, from `low` to `high`, both allowed."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, int | float) or isinstance(value, bool):
        wrong_type(name, "a number", value)
    if not low <= value <= high:
        raise ApiError(f"{name}: must be from {low} to {high}, got {value}", param=name, code="invalid_value")
    return float(value)


def wrong_type(name: str, wanted: str, value: object) -> NoReturn:
    """Raises ApiError: `name` must be `wanted`, got another type."""
    raise ApiError(f"{name}: must be {wanted}, got {type_name(value)}", param=name, code="invalid_type")


def type_name(value: object) -> str:
    """JSON's name for the type of a parsed value."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
