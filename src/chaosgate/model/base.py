"""The base of every frozen model: unknown keys are refused, values never change, YAML names are camelCase."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from chaosgate.errors import RegistryError, UsageError, one_line
from chaosgate.registry import Registry
from chaosgate.strict_json import parse_json

Model = TypeVar("Model", bound=BaseModel)


class Frozen(BaseModel):
    """Immutable data read from YAML or JSON in camelCase and written back the same way."""

    model_config = ConfigDict(
        # A command uses a few of many models: built when they are first used, they do not delay its start.
        defer_build=True,
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
        ser_json_inf_nan="constants",
        use_attribute_docstrings=True,
    )

    @classmethod
    def of_checked(cls, values: dict[str, Any]) -> Self:
        """An object of `values`, one for every field by its name and of its type: nothing is checked.

        It takes a quarter of the time of checking, for what is made thousands of times a second.
        """
        made = cls.__new__(cls)
        # What BaseModel.model_construct sets, without its look at every field. Nothing changes the set of fields of
        # what is frozen, so that all share one.
        object.__setattr__(made, "__dict__", values)
        object.__setattr__(made, "__pydantic_fields_set__", _all_fields(cls))
        object.__setattr__(made, "__pydantic_extra__", None)
        object.__setattr__(made, "__pydantic_private__", None)
        return made

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data with every field written out, defaults included."""
        return self.model_dump(mode="json")


@cache
def _all_fields(model: type[BaseModel]) -> set[str]:
    return set(model.model_fields)


def of_its_kind(kinds: Registry[Any], base: type[BaseModel], data: Any, example: str) -> Any:
    """What resolved `data` describes, by its kind; an item of `base` as it is. A ValueError says what is wrong."""
    if isinstance(data, base):
        return data
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str):
        raise ValueError(f"a {kinds.noun.removesuffix(' kind')} is an object with a `kind`, such as {example}")
    try:
        return kinds.get(kind).model_validate(data)
    except RegistryError as error:
        raise ValueError(str(error)) from error


def first_refusal(error: ValidationError) -> str:
    """`key.0.key: what is wrong there`: the first thing that a model refuses in data that no person wrote."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def read_model(path: Path, model: type[Model]) -> Model:
    """The JSON file `path` as `model`; a UsageError names the file, every key that is refused, and why."""
    try:
        data = parse_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: is no JSON: {error}") from error
    try:
        return model.model_validate(data)
    except ValidationError as error:
        lines = [f"{path}: {'.'.join(map(str, item['loc'])) or '(document)'}: {item['msg']}" for item in error.errors()]
        raise UsageError("\n".join(lines)) from error


NAME_PATTERN = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
"""A DNS label (RFC 1123): it can name a Kubernetes object, an MLflow run and a file."""

ENVIRONMENT_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
"""The name of an environment variable."""

Line = Annotated[str, AfterValidator(one_line)]
"""A sentence that may quote what a server said: always one printable line."""
