"""What may stand in a field, in the words of whoever writes a spec: read off its annotation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from chaosgate.model.annotations import branches, describe, dimension_of, is_union, strip, yaml_word
from chaosgate.model.pattern_words import PATTERNS
from chaosgate.units import HINTS, format_value

_LIMITS = (("gt", "more than"), ("ge", "at least"), ("lt", "less than"), ("le", "at most"))
_LENGTHS = (("min_length", "at least"), ("max_length", "at most"))


def type_words(annotation: Any) -> str:
    """What stands there, with an example of its form: `a duration such as 250ms, 2s or 5m`, `list, each text`."""
    bare = strip(annotation)
    if is_union(bare):
        return " or ".join(dict.fromkeys(map(type_words, branches(bare))))
    if get_origin(bare) is tuple:
        return f"list, each {type_words(get_args(bare)[0])}"
    dimension = dimension_of(annotation)
    return HINTS[dimension] if dimension else short_type(annotation)


def short_type(annotation: Any) -> str:
    """What stands there in a word or two: `duration`, `choice`, `mapping`, `list of text`."""
    bare = strip(annotation)
    if is_union(bare):
        return " or ".join(dict.fromkeys(map(short_type, branches(bare))))
    if model_of(bare) is not None:
        return "mapping"
    if get_origin(bare) is dict:
        return f"mapping of names to {short_type(get_args(bare)[1])}"
    if get_origin(bare) is tuple:
        return f"list of {short_type(get_args(bare)[0]).removeprefix('a ')}"
    return "choice" if get_origin(bare) is Literal else dimension_of(annotation) or describe(annotation)


def model_of(annotation: Any) -> type[BaseModel] | None:
    """The model that stands there as a mapping of known keys, None where none does."""
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def allowed_words(annotation: Any) -> Iterator[str]:
    """The words of a literal, the limits of a number, what a pattern asks for."""
    dimension = dimension_of(annotation)
    for branch in branches(strip(annotation)):
        if get_origin(strip(branch)) is Literal:
            yield from (str(word) if isinstance(word, str) else yaml_word(word) for word in get_args(strip(branch)))
    for mark in _marks(annotation):
        for name, words in _LIMITS:
            if (limit := getattr(mark, name, None)) is not None:
                yield f"{words} {format_value(float(limit), dimension) if dimension else limit}"
        for name, words in _LENGTHS:
            if (limit := getattr(mark, name, None)) is not None:
                one, many = (
                    ("entry", "entries") if get_origin(strip(annotation)) is tuple else ("character", "characters")
                )
                yield f"{words} {limit} {one if limit == 1 else many}"
        if pattern := getattr(mark, "pattern", None):
            yield PATTERNS.get(pattern, f"what matches {pattern}").removeprefix("write ")


def _marks(annotation: Any) -> Iterator[Any]:
    """The metadata of an annotation, `Field(...)` within it and that of each alternative included."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        yield from _marks(inner)
        for mark in marks:
            yield from mark.metadata if isinstance(mark, FieldInfo) else [mark]
    elif is_union(annotation):
        for branch in branches(annotation):
            yield from _marks(branch)
