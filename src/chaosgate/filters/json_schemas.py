"""Checking values against a JSON Schema, draft 2020-12, with the library jsonschema of the extra `filters`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from itertools import islice
from typing import Any

MOST_ERRORS = 100
"""Errors of which the most telling one is chosen; a long answer may have one at each of its elements."""
MAX_SHOWN = 100
"""Characters of a path, or of a rule of a schema, that are told."""
NOT_INSTALLED = (
    "checking against a JSON Schema needs jsonschema, which is not installed; "
    "install it: pip install 'chaosgate[filters]'"
)


def check_schema(schema: Mapping[str, Any]) -> None:
    """Nothing for a schema that can be used; a ValueError says what is wrong with it, or that the extra is missing."""
    library = _library()
    try:
        library.Draft202012Validator.check_schema(schema)
    except library.SchemaError as error:
        raise ValueError(f"is no JSON Schema: {error.json_path}: {error.message}") from error


def schema_error(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Where and why `value` does not fit `schema`; None where it fits. References lead nowhere outside the schema.

    Nothing of the value is in the text but the path to what does not fit.
    """
    library = _library()
    # An empty registry: the library's own would fetch what a `$ref` names from the network.
    registry = import_module("referencing").Registry()
    try:
        errors = library.Draft202012Validator(schema, registry=registry).iter_errors(value)
        error = library.exceptions.best_match(islice(errors, MOST_ERRORS))
    except RecursionError:
        return "it, or the schema for it, is nested too deep"
    except import_module("referencing.exceptions").Unresolvable as missing:
        return f"the schema refers to {missing}, which it does not hold"
    if error is None:
        return None
    rule = json.dumps({error.validator: error.validator_value})
    return f"{_short(error.json_path)}: breaks {_short(rule)}"


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def _library() -> Any:
    try:
        return import_module("jsonschema")
    except ImportError as error:
        raise ValueError(NOT_INSTALLED) from error
