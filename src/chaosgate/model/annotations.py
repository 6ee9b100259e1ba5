"""What a field of a model allows, in the words of whoever writes a spec: derived from its annotation, declared once."""

from __future__ import annotations

import types
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from chaosgate.units import HINTS, Bound, Dimension, Margin, Unit

_PLAIN = {str: "text", int: "a whole number", float: "a number", bool: "true or false", Path: "the path of a file"}
BOUND_HINT = 'a bound in quotes such as "<= 300ms"'
MARGIN_HINT = 'a change in quotes such as "<= +50ms"'


def describe(annotation: Any) -> str:
    """What may be written where `annotation` stands, such as `a share such as 5 %` or `'embedded' or 'vllm'`."""
    dimension = dimension_of(annotation)
    if dimension:
        return HINTS[dimension]
    bare = strip(annotation)
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        return _braces(bare)
    if get_origin(bare) is Literal:
        return either([yaml_word(word) for word in get_args(bare)])
    if is_union(bare):
        return either([describe(branch) for branch in branches(bare)])
    if bare is Margin:
        return MARGIN_HINT
    if bare is Bound:
        return BOUND_HINT
    return _PLAIN.get(bare) or ("a list" if get_origin(bare) in (tuple, list) else "a mapping")


def dimension_of(annotation: Any) -> Dimension | None:
    """The dimension of an annotated number such as `Duration`, None for anything else."""
    if get_origin(annotation) is not Annotated:
        return next(map(dimension_of, branches(annotation)), None) if _optional(annotation) else None
    marks = get_args(annotation)[1:]
    found = next((mark.dimension for mark in marks if isinstance(mark, Unit)), None)
    return found or dimension_of(get_args(annotation)[0])


def strip(annotation: Any) -> Any:
    """`annotation` without its metadata and without `| None`."""
    while get_origin(annotation) is Annotated or _optional(annotation):
        annotation = get_args(annotation)[0] if get_origin(annotation) is Annotated else branches(annotation)[0]
    return annotation


def is_union(annotation: Any) -> bool:
    """Whether several types are allowed."""
    return get_origin(annotation) in (Union, types.UnionType)


def branches(annotation: Any) -> list[Any]:
    """The alternatives of a union but None; a type that is no union is its own one alternative."""
    if not is_union(annotation):
        return [annotation]
    return [branch for branch in get_args(annotation) if branch is not type(None)]


def tag_of(union: Any) -> str | None:
    """The key that tells the models of a union apart: each has it, with words of its own. None where there is none."""
    models = branches(union)
    if len(models) < 2 or not all(isinstance(one, type) and issubclass(one, BaseModel) for one in models):
        return None
    shared = [key for key in keys_of(models[0]) if all(key in keys_of(one) for one in models)]
    return next((key for key in shared if all(_is_words(keys_of(one)[key]) for one in models)), None)


def _is_words(field: FieldInfo) -> bool:
    return field.is_required() and get_origin(strip(of_field(field))) is Literal


def of_field(field: FieldInfo) -> Any:
    """The annotation of `field` with the metadata that pydantic keeps beside it."""
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def keys_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The keys that `model` reads, as they are written in YAML, with their fields."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def either(words: Sequence[str]) -> str:
    """`a, b or c`."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def yaml_word(value: object) -> str:
    """A literal as it is written in YAML: `true`, `5`, `'text'`."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _optional(annotation: Any) -> bool:
    return is_union(annotation) and len(branches(annotation)) == 1


def _braces(model: type[BaseModel]) -> str:
    keys = keys_of(model)
    needed = [key for key, field in keys.items() if field.is_required()] or list(keys)
    return "{" + ", ".join(f"{key}: ..." for key in needed) + "}"
