"""Validating data against a model, with every refusal as a sentence in the words of the spec."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from chaosgate.errors import Problem
from chaosgate.model.annotations import (
    branches,
    describe,
    dimension_of,
    is_union,
    keys_of,
    of_field,
    strip,
    tag_of,
    yaml_word,
)
from chaosgate.model.source import DataPath, yaml_type
from chaosgate.model.uri import without_password
from chaosgate.registry import nearest
from chaosgate.units import HINTS, Dimension, format_value

Model = TypeVar("Model", bound=BaseModel)

_LIMITS = {
    "greater_than": ("gt", "more than {} is needed"),
    "greater_than_equal": ("ge", "at least {} is needed"),
    "less_than": ("lt", "less than {} is allowed"),
    "less_than_equal": ("le", "at most {} is allowed"),
}
_LENGTHS = {
    "too_short": ("min_length", "at least {} is needed"),
    "too_long": ("max_length", "at most {} is allowed"),
    "string_too_short": ("min_length", "at least {} is needed"),
    "string_too_long": ("max_length", "at most {} is allowed"),
}


def validate(model: type[Model], data: Any, path: DataPath = ()) -> tuple[Model | None, list[Problem]]:
    """`data` as a `model`, or None with everything that is wrong with it; `path` is where the data stands.

    Nothing is converted: a text that looks like a number is refused, and so is the Python name of a YAML key.
    """
    try:
        return model.model_validate(tupled(data), strict=True, by_alias=True, by_name=False), []
    except ValidationError as error:
        details = error.errors(include_url=False)
    found = [problem for detail in details for problem in _problems(model, data, detail)]
    unique = dict.fromkeys(_without_echoes(found))
    return None, [Problem((*path, *one.path), one.message, at_key=one.at_key) for one in unique]


def tupled(data: Any) -> Any:
    """`data` with its lists as tuples, the form frozen models hold."""
    if isinstance(data, dict):
        return {key: tupled(value) for key, value in data.items()}
    return tuple(map(tupled, data)) if isinstance(data, (list, tuple)) else data


def value_at(data: Any, path: DataPath) -> Any:
    """The value at `path`, None where there is none."""
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data


@dataclass(frozen=True)
class _Place:
    """Where an error belongs: pydantic's location without its names of union branches."""

    path: DataPath
    annotation: Any
    owner: type[BaseModel] | None
    union: bool = False


def _problems(model: type[BaseModel], data: Any, detail: ErrorDetails) -> Iterator[Problem]:
    place = _place(model, data, detail["loc"])
    if place is None:
        return
    read = value_at(data, place.path)
    if _is_echo(read, detail):
        return
    missing_here = detail["type"] == "missing" and detail["loc"][-1:] == place.path[-1:]
    if place.union and not missing_here:
        near = _near_literal(place, read)
        yield Problem(place.path, f"read {yaml_type(read)}; write {describe(place.annotation)}{near}")
    elif detail["type"] == "extra_forbidden":
        yield Problem(place.path, _unknown_key(str(place.path[-1]), place.owner), at_key=True)
    else:
        at_key = detail["loc"][-1:] == ("[key]",)
        yield Problem(place.path, _sentence(place, read, detail), at_key=at_key)


def _place(model: type[BaseModel], data: Any, location: tuple[int | str, ...]) -> _Place | None:
    """The place of an error; None for one that belongs to a branch of a union which was plainly not meant."""
    annotation: Any = model
    owner: type[BaseModel] | None = None
    path: DataPath = ()
    parts = list(location)
    while parts:
        bare = strip(annotation)
        if is_union(bare):
            read = value_at(data, path)
            meant = _meant(bare, read)
            if meant is None and (tag := tag_of(bare)) and isinstance(read, dict):
                # What else its branches refuse says nothing as long as nobody knows which of them is meant.
                return _tag_place(bare, tag, path, read, parts)
            if meant is None:
                return _Place(path, bare, owner, union=True)
            if meant.__name__ not in str(parts.pop(0)):
                return None
            annotation = meant
            continue
        part = parts.pop(0)
        if part == "[key]":
            break
        path = (*path, part)
        owner = bare if _is_model(bare) else None
        annotation = _step(bare, part)
    if is_union(strip(annotation)):
        return _Place(path, strip(annotation), owner, union=True)
    return _Place(path, annotation, owner)


def _tag_place(union: Any, tag: str, path: DataPath, read: dict[str, Any], parts: list[int | str]) -> _Place | None:
    """The place of the key that tells the branches of `union` apart, where it is missing or names none of them."""
    if parts[-1] != tag:
        return None
    words = tuple(word for branch in branches(union) for word in get_args(strip(of_field(keys_of(branch)[tag]))))
    return _Place((*path, tag), Literal[words], None, union=tag in read)


def _meant(union: Any, read: Any) -> type[BaseModel] | None:
    """The one model among the branches that a mapping was meant to be: its errors say more than the union's.

    It is the only model there is, or the one that the mapping's tag names, or the only one that has one of its keys.
    """
    models = [branch for branch in branches(union) if _is_model(branch)]
    if not isinstance(read, dict):
        return None
    tag = tag_of(union)
    if len(models) > 1 and tag:
        models = [one for one in models if read.get(tag) in get_args(strip(of_field(keys_of(one)[tag])))]
    elif len(models) > 1:
        models = [one for one in models if read.keys() & keys_of(one).keys()]
    return models[0] if len(models) == 1 else None


def _step(bare: Any, part: int | str) -> Any:
    if _is_model(bare):
        field = keys_of(bare).get(str(part))
        return of_field(field) if field else None
    arguments = get_args(bare)
    if get_origin(bare) is dict:
        return arguments[1]
    return arguments[0] if arguments else None


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _unknown_key(key: str, owner: type[BaseModel] | None) -> str:
    known = list(keys_of(owner)) if owner else []
    near = nearest(key, known)
    hint = f"; did you mean {near!r}?" if near else ";"
    return f"unknown key {key!r}{hint} allowed: {', '.join(sorted(known))}"


def _is_echo(read: Any, detail: ErrorDetails) -> bool:
    """Whether a list is called too short only because its items are broken, which is said of each of them."""
    limit = detail.get("ctx", {}).get("min_length", 0)
    return detail["type"] == "too_short" and isinstance(read, (list, tuple)) and len(read) >= limit


def _sentence(place: _Place, read: Any, detail: ErrorDetails) -> str:
    context = detail.get("ctx", {})
    kind = detail["type"]
    if kind == "missing":
        return f"is missing; write {describe(place.annotation)}"
    if kind == "value_error":
        return _value_error(place, read, str(context["error"]))
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        limit = _limit(context[name], dimension_of(place.annotation))
        return f"read {yaml_type(read)}; {words.format(limit)}"
    if kind in _LENGTHS:
        name, words = _LENGTHS[kind]
        what = "characters" if isinstance(read, str) else "entries"
        return f"has {len(read or ())} {what}; {words.format(context[name])}"
    if kind == "string_pattern_mismatch":
        written = read if detail["loc"][-1] != "[key]" else place.path[-1]
        pattern = context["pattern"]
        shown = without_password(written) if isinstance(written, str) else written
        # Imported here: it needs every model, which is long to wait for, and few mistakes are of a pattern.
        from chaosgate.model.pattern_words import PATTERNS

        return f"read {yaml_type(shown)}; {PATTERNS.get(pattern, f'it must match {pattern}')}"
    return f"read {yaml_type(read)}; write {describe(place.annotation)}{_near_literal(place, read)}"


def _value_error(place: _Place, read: Any, message: str) -> str:
    dimension = dimension_of(place.annotation)
    if dimension and (isinstance(read, bool) or not isinstance(read, (str, int, float))):
        return f"read {yaml_type(read)}; write {HINTS[dimension]}"
    return message


def _limit(limit: Any, dimension: Dimension | None) -> str:
    return format_value(float(limit), dimension) if dimension else str(limit)


def _near_literal(place: _Place, read: Any) -> str:
    words = [word for word in get_args(strip(place.annotation)) if isinstance(word, str)]
    near = nearest(read, words) if isinstance(read, str) and len(words) > 1 else None
    return f"; did you mean {yaml_word(near)}?" if near else ""


def _without_echoes(problems: list[Problem]) -> list[Problem]:
    """Without the missing keys that stand there misspelt: the unknown key says it already."""
    suggested = {
        (*one.path[:-1], one.message.split("did you mean '")[1].split("'")[0])
        for one in problems
        if one.at_key and "did you mean '" in one.message
    }
    return [one for one in problems if not (one.path in suggested and one.message.startswith("is missing"))]
