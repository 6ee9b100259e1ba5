"""A bound on a relative change, such as `<= +10 %`: what a run may differ from its history."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from chaosgate.units import Bound

_PATTERN = r"^\s*(<=|>=|<|>)\s*([+-]?)\s*([0-9]{1,6}(\.[0-9]+)?)\s*%\s*$"
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class RelativeBound:
    """A comparison and a change as a fraction: `<= +10 %` is `<=` and 0.1, `>= -5 %` is `>=` and -0.05."""

    op: Literal["<=", ">=", "<", ">"]
    value: float

    @classmethod
    def parse(cls, text: object) -> RelativeBound:
        """Read `<= +10 %` or `>= -5 %`; a ValueError says what is allowed."""
        match = re.fullmatch(_PATTERN, text) if isinstance(text, str) else None
        if match is None:
            raise ValueError(
                f'read {text!r}; write a comparison and a change, in quotes, such as "<= +10 %" or ">= -5 %"'
            )
        return cls(match[1], float(f"{match[2]}{match[3]}e-2"))  # type: ignore[arg-type]

    @property
    def upper(self) -> bool:
        """Whether it bounds a rise."""
        return self.op in ("<=", "<")

    def holds(self, change: float) -> bool:
        """Whether `change`, as a fraction, is within the bound."""
        return _HOLDS[self.op](change, self.value)

    def __str__(self) -> str:
        return f"{self.op} {self.value * 100:+.10g} %"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else cls.parse(value),
            serialization=core_schema.plain_serializer_function_ser_schema(str, return_schema=core_schema.str_schema()),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {
            "type": "string",
            "pattern": _PATTERN,
            "description": 'A comparison and a change in per cent, always quoted: "<= +10 %", ">= -5 %".',
        }


def why_wrong_side(read: object, name: str, wanted: Bound) -> str | None:
    """Why the change `read` cannot be meant for an objective that asks for `wanted`: it would let any loss pass.

    None where it limits the loss, and where it cannot be read, which is said elsewhere.
    """
    try:
        bound = RelativeBound.parse(read)
    except ValueError:
        return None
    if bound.upper == wanted.upper:
        return None
    worse, example = ("more", "<= +10 %") if wanted.upper else ("less", ">= -10 %")
    return f"read '{bound}'; {name!r} asks for '{wanted}', so {worse} is worse: write a change such as \"{example}\""
