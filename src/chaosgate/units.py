"""Values with units: read strictly from a spec, kept in base units, written back in one canonical form.

Base units: seconds, requests per second, fractions (5 % is 0.05). A number without its unit is refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import core_schema

Dimension = Literal["duration", "rate", "share", "count", "number"]

_NUMBER = r"([0-9]{1,15}(?:\.[0-9]+)?)"
_SECONDS = {"us": (-6, 1.0), "ms": (-3, 1.0), "s": (0, 1.0), "m": (0, 60.0), "h": (0, 3600.0)}
"""Power of ten and factor of each unit."""
_PER_SECOND = {"s": 1.0, "min": 60.0, "h": 3600.0}
_DURATION = re.compile(rf"{_NUMBER}\s*(us|ms|s|m|h)")
_RATE = re.compile(rf"{_NUMBER}\s*/\s*(s|min|h)")
_SHARE = re.compile(rf"{_NUMBER}\s*%")
_BOUND = re.compile(r"(<=|>=|<|>)\s*(.+)", re.DOTALL)

HINTS: dict[Dimension, str] = {
    "duration": "a duration such as 250ms, 2s or 5m (us, ms, s, m, h)",
    "rate": "a rate such as 20/s, 90/min or 400/h",
    "share": "a share such as 5 %",
    "count": "a whole number",
    "number": "a number",
}


def parse_duration(text: str) -> float:
    """Seconds. `250ms` is 0.25; a ValueError says what is allowed."""
    match = _matched(text, _DURATION, "duration")
    exponent, factor = _SECONDS[match[2]]
    return _shifted(match[1], exponent) * factor


def parse_rate(text: str) -> float:
    """Requests per second. `90/min` is 1.5; a ValueError says what is allowed."""
    match = _matched(text, _RATE, "rate")
    return float(match[1]) / _PER_SECOND[match[2]]


def parse_share(text: str) -> float:
    """A fraction. `5 %` is 0.05; a ValueError says what is allowed. More than 100 % is refused."""
    share = _shifted(_matched(text, _SHARE, "share")[1], -2)
    if share > 1:
        raise ValueError(f"read {text!r}; a share is at most 100 %")
    return share


def _shown(read: object) -> str:
    """What was read, short enough for one line."""
    text = repr(read)
    return text if len(text) <= 62 else f"{text[:58]}...{text[-1]}"


def _shifted(number: str, exponent: int) -> float:
    """`number` times a power of ten, rounded once: 1.1 % is 0.011 and not 0.011000000000000001."""
    return float(f"{number}e{exponent}")


def _matched(text: object, pattern: re.Pattern[str], dimension: Dimension) -> re.Match[str]:
    match = pattern.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        missing = " without a unit" if isinstance(text, (int, float)) and not isinstance(text, bool) else ""
        raise ValueError(f"read {_shown(text)}{missing}; write {HINTS[dimension]}")
    return match


def _plain(value: float, exponent: int = 0) -> str:
    """The shortest decimal form of `value` times a power of ten that reads back equal, never in power notation."""
    text = format(Decimal(repr(value)).scaleb(exponent), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_duration(seconds: float) -> str:
    """`250ms`, `2s`, `90s`; the unit is chosen so that the number is easy to read and reads back equal."""
    if seconds == 0 or seconds >= 1:
        return f"{_plain(seconds)}s"
    return f"{_plain(seconds, 3)}ms" if seconds >= 1e-3 else f"{_plain(seconds, 6)}us"


def format_rate(per_second: float) -> str:
    """`20/s`."""
    return f"{_plain(per_second)}/s"


def format_share(fraction: float) -> str:
    """`5 %`."""
    return f"{_plain(fraction, 2)} %"


def format_value(value: float | None, dimension: Dimension) -> str:
    """A value for people, four significant digits with its unit; `-` when there is none, `inf` when it is unbounded."""
    if value is None:
        return "-"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    rounded = float(f"{value:.4g}")
    match dimension:
        case "duration":
            return format_duration(rounded) if rounded >= 0 else "-" + format_duration(-rounded)
        case "rate":
            return format_rate(rounded)
        case "share":
            return f"{float(f'{value * 100:.4g}'):g} %"
        case _:
            return f"{rounded:g}"


def parse_value(text: object, dimension: Dimension) -> float:
    """`text` as a number in the base unit of `dimension`, or a ValueError that says what is allowed."""
    match dimension:
        case "duration":
            return parse_duration(text)  # type: ignore[arg-type]
        case "rate":
            return parse_rate(text)  # type: ignore[arg-type]
        case "share":
            return parse_share(text)  # type: ignore[arg-type]
        case "count" | "number":
            return _parse_number(text, dimension)


def _parse_number(text: object, dimension: Dimension) -> float:
    try:
        value = float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(text, bool) or not math.isfinite(value) or (dimension == "count" and value != int(value)):
        raise ValueError(f"read {text!r}; write {HINTS[dimension]}")
    return value


_FORMATS = {"duration": format_duration, "rate": format_rate, "share": format_share}
_PATTERNS = {"duration": _DURATION.pattern, "rate": _RATE.pattern, "share": _SHARE.pattern}


@dataclass(frozen=True)
class Unit:
    """Marks an annotated number with its dimension, so that code can ask a field what it is measured in."""

    dimension: Dimension


def _unit_type(dimension: Literal["duration", "rate", "share"]) -> tuple[Any, ...]:
    def read(value: Any) -> float:
        return parse_value(value, dimension)

    schema = {
        "type": "string",
        "pattern": f"^\\s*{_PATTERNS[dimension]}\\s*$",
        "description": HINTS[dimension],
    }
    write = PlainSerializer(_FORMATS[dimension], return_type=str)
    return Unit(dimension), BeforeValidator(read), write, WithJsonSchema(schema)


Duration = Annotated[float, *_unit_type("duration")]
"""Seconds; read from and written as `250ms`."""
Rate = Annotated[float, *_unit_type("rate")]
"""Requests per second; read from and written as `20/s`."""
Share = Annotated[float, *_unit_type("share")]
"""A fraction in [0, 1]; read from and written as `5 %`."""


@dataclass(frozen=True)
class Bound:
    """A limit such as `<= 300ms`: the comparison, the value in base units and the dimension its unit implies."""

    op: Literal["<=", ">=", "<", ">"]
    value: float
    dimension: Dimension

    @classmethod
    def parse(cls, text: object) -> Bound:
        """Read `<= 300ms`, `< 1 %`, `>= 20/s` or `> 5`; a ValueError says what is allowed."""
        match = _BOUND.fullmatch(text.strip()) if isinstance(text, str) else None
        dimension = _dimension_of(match[2]) if match else None
        if match is None or dimension is None:
            raise ValueError(
                f'read {_shown(text)}; write a comparison and a value in quotes, such as "<= 300ms" or ">= 99 %"'
            )
        op, number = match[1], match[2]
        return cls(op, parse_value(number, dimension), dimension)  # type: ignore[arg-type]

    @property
    def upper(self) -> bool:
        """True when small values are good (`<=`, `<`)."""
        return self.op in ("<=", "<")

    def holds(self, value: float) -> bool:
        """Whether `value`, in base units, is within the bound."""
        match self.op:
            case "<=":
                return value <= self.value
            case "<":
                return value < self.value
            case ">=":
                return value >= self.value
            case ">":
                return value > self.value

    def __str__(self) -> str:
        formatter = _FORMATS.get(self.dimension, _plain)
        return f"{self.op} {formatter(self.value)}"

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
            "pattern": rf"^\s*(<=|>=|<|>)\s*{_NUMBER}\s*(us|ms|s|m|h|%|/\s*(s|min|h))?\s*$",
            "description": 'A comparison and a value, always quoted: "<= 300ms", ">= 99 %".',
        }


def _dimension_of(text: str) -> Dimension | None:
    patterns: dict[Dimension, str] = {"share": _SHARE.pattern, "rate": _RATE.pattern, "duration": _DURATION.pattern}
    patterns["number"] = _NUMBER
    return next((dimension for dimension, pattern in patterns.items() if re.fullmatch(pattern, text)), None)


_MARGIN = re.compile(r"(<=|>=|<|>)\s*([+-]?)\s*(.+)", re.DOTALL)


@dataclass(frozen=True)
class Margin(Bound):
    """A limit on a change, such as `<= +50ms` or `>= -0.5 %`: a bound whose value may be below 0 and above 100 %."""

    @classmethod
    def parse(cls, text: object) -> Margin:
        """Read `<= 50ms`, `<= +10 %` or `>= -0.5 %`; a ValueError says what is allowed."""
        match = _MARGIN.fullmatch(text.strip()) if isinstance(text, str) else None
        dimension = _dimension_of(match[3]) if match else None
        if match is None or dimension is None:
            raise ValueError(
                f'read {_shown(text)}; write a comparison and a change in quotes, such as "<= +50ms" or ">= -0.5 %"'
            )
        number = match[3]
        size = _shifted(_matched(number, _SHARE, "share")[1], -2) if dimension == "share" else None
        value = parse_value(number, dimension) if size is None else size
        return cls(match[1], -value if match[2] == "-" else value, dimension)  # type: ignore[arg-type]

    def __str__(self) -> str:
        formatter = _FORMATS.get(self.dimension, _plain)
        sign = "-" if self.value < 0 else "+" if self.value > 0 else ""
        return f"{self.op} {sign}{formatter(abs(self.value))}"

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {
            "type": "string",
            "pattern": rf"^\s*(<=|>=|<|>)\s*[+-]?\s*{_NUMBER}\s*(us|ms|s|m|h|%|/\s*(s|min|h))?\s*$",
            "description": 'A comparison and a change, always quoted: "<= +50ms", ">= -0.5 %".',
        }
