"""Single fields of a JSON body, read strictly. Absent and null are the same, as in OpenAI's API."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from chaosgate.engine.api.errors import ApiError

Body = dict[str, Any]


def read_body(raw: bytes) -> Body:
    """The JSON object in `raw`; ApiError when it is none."""
    try:
        body = json.loads(raw)
    except RecursionError as error:
        raise _no_json("its objects or arrays lie too deep in one another") from error
    except json.JSONDecodeError as error:
        raise _no_json(str(error)) from error
    except UnicodeDecodeError as error:
        raise _no_json(f"byte {error.start + 1} is no {error.encoding.upper()}") from error
    except ValueError as error:
        # All that is left: Python reads no longer integers, for the time that it takes grows with their square.
        raise _no_json(f"it has an integer of more than {sys.get_int_max_str_digits()} digits") from error
    if not isinstance(body, dict):
        raise ApiError(f"the body must be a JSON object, got {type_name(body)}", code="invalid_json")
    return body


def _no_json(reason: str) -> ApiError:
    return ApiError(f"the body is no JSON: {reason}", code="invalid_json")


def refuse_other_than(body: Body, allowed: Mapping[str, tuple[Any, ...]]) -> None:
    """ApiError for a field whose value asks for something this engine does not do.

    `allowed` names the values of a field that change nothing, or that are carried out; the first is the default. A
    field that is not in it is ignored: clients send more than any server knows.
    """
    for name, values in allowed.items():
        value = body.get(name)
        if value is not None and not any(_same(value, one) for one in values):
            raise ApiError(
                f"{name}: {_shown(value, 80)} is not supported by the embedded engine; leave the field out or"
                f" set it to {json.dumps(values[0])}",
                param=name,
                code="unsupported_value",
            )


def _same(value: object, allowed: object) -> bool:
    """Whether JSON has the two as the same value: for Python `True == 1`, too."""
    return value == allowed and isinstance(value, bool) == isinstance(allowed, bool)


def boolean(body: Body, name: str, default: bool) -> bool:
    """`body[name]`, true or false."""
    value = body.get(name)
    if value is None:
        return default
    return value if isinstance(value, bool) else wrong_type(name, "a boolean", value)


def integer(body: Body, name: str, low: int, high: float = math.inf) -> int | None:
    """`body[name]`, a whole number from `low` to `high`; None when absent."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        wrong_type(name, "an integer", value)
    if not low <= value <= high:
        wanted = f"at least {low}" if high == math.inf else f"from {low} to {high}"
        raise ApiError(f"{name}: must be {wanted}, got {_shown(value)}", param=name, code="invalid_value")
    return value


def number(body: Body, name: str, default: float, low: float, high: float) -> float:
    """`body[name]`, from `low` to `high`, both allowed."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, int | float) or isinstance(value, bool):
        wrong_type(name, "a number", value)
    if not low <= value <= high:
        wanted = f"from {low:g} to {high:g}"
        raise ApiError(f"{name}: must be {wanted}, got {_shown(value)}", param=name, code="invalid_value")
    return float(value)


def text(body: Body, name: str) -> str | None:
    """`body[name]`, a string; None when absent."""
    value = body.get(name)
    return value if value is None or isinstance(value, str) else wrong_type(name, "a string", value)


def one_of(body: Body, name: str, allowed: tuple[str, ...]) -> str:
    """`body[name]`, one of `allowed`; the first of them when absent."""
    value = body.get(name)
    if value is None:
        return allowed[0]
    if value not in allowed:
        wanted = " or ".join(json.dumps(one) for one in allowed)
        raise ApiError(f"{name}: must be {wanted}, got {_shown(value)}", param=name, code="invalid_value")
    return str(value)


def _shown(value: object, most: int = 40) -> str:
    """The beginning of `value` as JSON."""
    return json.dumps(value)[:most]


def wrong_type(name: str, wanted: str, value: object, param: str | None = None) -> NoReturn:
    """Raises ApiError: `name`, which lies in the field `param` or is one itself, must be `wanted`, got another type."""
    raise ApiError(f"{name}: must be {wanted}, got {type_name(value)}", param=param or name, code="invalid_type")


def type_name(value: object) -> str:
    """JSON's name for the type of a parsed value."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
