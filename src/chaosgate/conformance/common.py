"""What all kinds have in common: one registered name, docstrings, data that goes to JSON and back."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import ValidationError

from chaosgate.model.base import Frozen
from chaosgate.registry import Registry

Model = TypeVar("Model", bound=Frozen)
Result = TypeVar("Result")


class ConformanceError(AssertionError):
    """A kind that breaks its contract. The text names the kind, what was seen and what is owed."""


def broken(kind: type, sentence: str) -> ConformanceError:
    """The error that names the kind before the sentence."""
    return ConformanceError(f"{kind.__module__}.{kind.__qualname__}: {sentence}")


def require(holds: bool, kind: type, sentence: str) -> None:
    """Nothing when `holds`, else a ConformanceError that names the kind before the sentence."""
    if not holds:
        raise broken(kind, sentence)


def call(kind: type, what: str, function: Callable[[], Result]) -> Result:
    """The result of `function`; whatever it raises is a ConformanceError, for a kind may never raise there."""
    try:
        return function()
    except Exception as error:
        raise broken(kind, f"{what} raised {type(error).__name__}: {error}; it must return a value") from error


def check_documented(kind: type, *methods: str) -> None:
    """The class and each of `methods` has a docstring of its own, not an inherited one."""
    require(bool(kind.__dict__.get("__doc__")), kind, "the class has no docstring; say what it is in one sentence")
    for name in methods:
        method = getattr(kind, name)
        require(bool(inspect.unwrap(method).__doc__), kind, f"{name} has no docstring; say what the caller gets")


def check_named(kind: type[Frozen], registry: Registry[Any]) -> str:
    """The kind's name: the one word of its `kind: Literal[...]`, under which the registry must know this class."""
    annotation = kind.model_fields["kind"].annotation
    words = get_args(annotation) if get_origin(annotation) is Literal else ()
    require(len(words) == 1, kind, f'kind is {annotation}; declare `kind: Literal["family.kind"]` with one word')
    name = str(words[0])
    require(name in registry, kind, f"{registry.noun} {name!r} is not registered; decorate the class with register")
    found = registry.get(name)
    require(found is kind, kind, f"{registry.noun} {name!r} is registered for {found.__module__}.{found.__qualname__}")
    return name


def build(kind: type[Model], example: Mapping[str, Any]) -> Model:
    """The example as an instance that survives JSON and comes back equal."""
    try:
        made = kind.model_validate(dict(example))
        text = json.dumps(made.to_json(), allow_nan=False)
        again = kind.model_validate(json.loads(text))
    except (ValidationError, ValueError) as error:
        raise broken(kind, f"the example is refused: {error}") from error
    require(again == made, kind, f"{made!r} written as JSON reads back as {again!r}; both must be equal")
    return made
