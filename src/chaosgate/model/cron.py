"""When a schedule fires: the five fields of cron as Argo Workflows reads them, checked before any cluster sees them.

The grammar is that of https://pkg.go.dev/github.com/robfig/cron/v3#hdr-CRON_Expression_Format, which Argo uses. Left
out are `@every`, which counts from whenever a controller started, and time zones: a schedule is in UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

NAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
HINT = 'write five fields, minute hour day month weekday, such as "30 3 * * 1-5", or one of ' + ", ".join(NAMES)
MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PART = re.compile(r"(?:\*|\?|(\w+)(?:-(\w+))?)(?:/(\w+))?")


@dataclass(frozen=True)
class _Field:
    name: str
    low: int
    high: int
    words: tuple[str, ...] = ()
    """Names for its numbers, from `low` on."""


FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day", 1, 31),
    _Field("month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    _Field("weekday", 0, 6, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)


def check_cron(text: str) -> str:
    """`text` when it is a schedule; a ValueError says which field is wrong, and how it is written."""
    if text.startswith("@"):
        if text not in NAMES:
            raise ValueError(f"read {text!r}; {HINT}")
        return text
    fields = text.split()
    if len(fields) != len(FIELDS):
        raise ValueError(f"read {text!r}, which has {len(fields)} fields; {HINT}")
    try:
        _, _, days, months, _ = (_values(field, word) for field, word in zip(FIELDS, fields, strict=True))
    except ValueError as error:
        raise ValueError(f"read {text!r}: {error}") from None
    # Where a weekday is given too, cron fires on either.
    if fields[4] in ("*", "?") and min(days) > max(MONTH_DAYS[month - 1] for month in months):
        raise ValueError(f"read {text!r}: no month that it names has a day {min(days)}; it would never fire")
    return text


def _values(field: _Field, word: str) -> set[int]:
    """The numbers that one field of a schedule stands for."""
    found: set[int] = set()
    for part in word.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"the {field.name} {part!r} is no number, range or *; {HINT}")
        found |= set(_range(field, part, match))
    return found


def _range(field: _Field, part: str, match: re.Match[str]) -> range:
    """The numbers of `*`, `3`, `1-5`, each with `/step` where there is one; `3/5` counts on from 3."""
    first, last, step = match.groups()
    low = field.low if first is None else _number(field, first)
    high = field.high if first is None or (step and not last) else _number(field, last or first)
    by = _number(_Field(f"step of {field.name}", 1, field.high), step) if step else 1
    if low > high:
        raise ValueError(f"the {field.name} {part!r} runs backwards; write the smaller number first")
    return range(low, high + 1, by)


def _number(field: _Field, text: str) -> int:
    names = {word: field.low + index for index, word in enumerate(field.words)}
    if text.lower() in names:
        return names[text.lower()]
    if not (text.isascii() and text.isdecimal() and field.low <= int(text) <= field.high):
        words = f", or {', '.join(field.words)}" if field.words else ""
        raise ValueError(f"the {field.name} is {text!r}; write {field.low} to {field.high}{words}")
    return int(text)


Cron = Annotated[str, AfterValidator(check_cron)]
"""A schedule that cron can keep, in UTC."""
