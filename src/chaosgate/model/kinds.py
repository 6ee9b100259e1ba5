"""An item of a list whose entries name their kind: which class it is of, and what is wrong with it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from chaosgate.errors import Problem
from chaosgate.model.source import DataPath, yaml_type
from chaosgate.model.validation import validate
from chaosgate.registry import Registry, unknown


def validate_kind(kinds: Registry[Any], item: Any, path: DataPath) -> tuple[BaseModel | None, list[Problem]]:
    """`item`, which stands at `path`, as the class that its `kind` names, or None with everything that is wrong."""
    kind = _class_of(kinds, item, path)
    return (None, [kind]) if isinstance(kind, Problem) else validate(kind, item, path)


def _class_of(kinds: Registry[Any], item: Any, path: DataPath) -> type[BaseModel] | Problem:
    """The class of an item by its `kind`, or why there is none."""
    where = (*path, "kind")
    if not isinstance(item, dict):
        return Problem(path, f"read {yaml_type(item)}; write a mapping with `kind` and what the kind needs")
    if "kind" not in item:
        return Problem(where, f"is missing; known {kinds.noun}s: {', '.join(kinds.names()) or 'none'}")
    if not isinstance(item["kind"], str):
        return Problem(where, f"read {yaml_type(item['kind'])}; write the name of a {kinds.noun}")
    if item["kind"] not in kinds:
        return Problem(where, unknown(kinds.noun, item["kind"], kinds.names()))
    found: type[BaseModel] = kinds.get(item["kind"])
    return found
