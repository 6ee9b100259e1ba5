"""A bound on a relative change, such as `<= +10 %`: what a run may differ from its history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import GetJsonSchemaHandler

from chaosgate.units import Bound, Margin


@dataclass(frozen=True)
class RelativeBound(Margin):
    """A comparison and a change as a fraction: `<= +10 %` is `<=` and 0.1, `>= -5 %` is `>=` and -0.05."""

    @classmethod
    def parse(cls, text: object) -> RelativeBound:
        """Read `<= +10 %` or `>= -5 %`; a ValueError says what is allowed."""
        refusal = f'read {text!r}; write a comparison and a change, in quotes, such as "<= +10 %" or ">= -5 %"'
        try:
            margin = Margin.parse(text)
        except ValueError as error:
            raise ValueError(refusal) from error
        if margin.dimension != "share":
            raise ValueError(refusal)
        return cls(margin.op, margin.value, margin.dimension)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {
            "type": "string",
            "pattern": r"^\s*(<=|>=|<|>)\s*([+-]?)\s*([0-9]{1,6}(\.[0-9]+)?)\s*%\s*$",
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
