"""How faults inside the engine travel: in a header of each request, with the token that the engine wants to see.

The engine answers in headers which of them it carried out. All of these headers stay between gateway and engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field, SerializeAsAny, ValidationError, field_validator, model_validator

from chaosgate.errors import one_line
from chaosgate.model.base import Frozen, Name, first_refusal
from chaosgate.model.fault import EngineFault, Fault, fault_of
from chaosgate.strict_json import parse_json

MAX_REASON = 300
"""Characters of a reason that is passed on."""


class Dosed(Frozen):
    """One fault at the dose that this request is to get."""

    name: Name
    dose: Annotated[float, Field(ge=0)]


class CarriedFaults(Frozen):
    """What one request carries. Its faults draw from `seed` by `request`, and act in their order.

    It carries no fault but a `salt` where the draw spares it in a window whose fault harms its neighbours, too.
    """

    seed: int
    request: Annotated[str, Field(max_length=200)]
    faults: Annotated[tuple[Dosed, ...], Field(max_length=64)]
    salt: Annotated[str, Field(max_length=4000)] = ""
    """The windows in which faults are on that share what they leave in the prefix cache, "" where there are none.
    Requests find only blocks of the same salt, so that what such a fault left is found as long as its window lasts."""

    @model_validator(mode="after")
    def _not_empty(self) -> CarriedFaults:
        if not self.faults and not self.salt:
            raise ValueError("neither a fault nor a salt is carried")
        return self

    def to_header(self) -> str:
        """The value of FAULTS_HEADER."""
        return self.model_dump_json()


class EngineFaults(Frozen):
    """What an engine is told when it starts: the faults it may carry, and by what it knows its token."""

    faults: tuple[SerializeAsAny[EngineFault], ...]
    token_digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """`chaosgate.tokens.token_digest` of its token. It is no secret: the token cannot be had from it."""

    @field_validator("faults", mode="before")
    @classmethod
    def _of_their_kinds(cls, value: Any) -> Any:
        return [fault_of(item) for item in value] if isinstance(value, list | tuple) else value


def engine_faults(faults: Iterable[Fault]) -> tuple[EngineFault, ...]:
    """Those of `faults` that act inside an engine."""
    return tuple(fault for fault in faults if isinstance(fault, EngineFault))


def read_carried_faults(text: str) -> CarriedFaults:
    """What the text of FAULTS_HEADER says; a ValueError says what is wrong with it."""
    try:
        return CarriedFaults.model_validate(parse_json(text))
    except ValidationError as error:
        raise ValueError(first_refusal(error)) from error
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def carried_names(values: Iterable[str]) -> frozenset[str]:
    """The faults that an engine says it carried out, from the values of CARRIED_HEADER."""
    return frozenset(name.strip() for value in values for name in value.split(","))


def refused_names(values: Iterable[str]) -> dict[str, str]:
    """Why each of the others was not, by its name, from the values of REFUSED_HEADER."""
    pairs = (value.partition(":") for value in values)
    return {name.strip(): one_line(reason).strip()[:MAX_REASON] for name, _, reason in pairs}
