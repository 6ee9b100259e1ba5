"""A JSON text with single values replaced, and every other byte as it was written.

Reading JSON and writing it again changes more than is meant: 1e400 becomes infinity, which is no JSON, a number of many
digits loses some, and of two members of one name one is gone. Whoever edits what others wrote replaces what he means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

Step = str | int
"""A member by its name, or an element of a list by its number."""

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class _Part(NamedTuple):
    """A member of an object or an element of a list, and where its value stands in the text."""

    step: Step
    start: int
    end: int


def written(value: Any) -> str:
    """`value` as JSON without spaces. Text stands as it is, but for halves of surrogate pairs: UTF-8 has none."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def replaced(text: str, path: Sequence[Step], value: str) -> str:
    """`text`, which is valid JSON, with the JSON `value` at `path`; where a name of that stands twice, at both.

    A member that is missing is added to its object. Nothing changes where the way to it is missing.
    """
    step, rest = path[0], path[1:]
    parts = list(_parts(text))
    found = [part for part in parts if part.step == step]
    if not found and not rest and isinstance(step, str):
        return _added(text, f"{written(step)}:{value}", first=not parts)
    for part in reversed(found):
        before = text[part.start : part.end]
        text = text[: part.start] + (replaced(before, rest, value) if rest else value) + text[part.end :]
    return text


def elements(text: str, name: str) -> list[str]:
    """The elements of the list that is the member `name` of the object `text`, as they are written.

    Where the name stands twice, those of the last one, as readers of JSON take it.
    """
    *_, place = (part for part in _parts(text) if part.step == name)
    inner = text[place.start : place.end]
    return [inner[part.start : part.end] for part in _parts(inner)]


def _parts(text: str) -> Iterator[_Part]:
    """The members or elements of the value in `text`; none of what is no object and no list."""
    start = _skip(text, 0)
    opened = text[start]
    if opened not in "{[":
        return
    number, place = 0, _skip(text, start + 1)
    while text[place] not in "}]":
        step: Step = number
        if opened == "{":
            step, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + len(":"))
        _, end = _DECODER.raw_decode(text, place)
        yield _Part(step, place, end)
        place = _skip(text, end)
        place = _skip(text, place + len(",")) if text[place] == "," else place
        number += 1


def _added(text: str, member: str, first: bool) -> str:
    """The object `text` with a member more at its end; what is no object stays as it is."""
    end = text.rfind("}")
    if text[_skip(text, 0)] != "{":
        return text
    return text[:end] + ("" if first else ",") + member + text[end:]


def _skip(text: str, place: int) -> int:
    """The first place from `place` on that holds no white space."""
    space = _SPACE.match(text, place)
    return place if space is None else space.end()
