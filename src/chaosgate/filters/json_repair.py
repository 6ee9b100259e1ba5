"""Mending the JSON of a model: fences and talk around it, an end that is missing, a comma too many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chaosgate.strict_json import parse_json

_FENCED = re.compile(r"```[A-Za-z]*\s*\n(.*?)(?:\n[^\S\n]*```|\Z)", re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*("?)', re.DOTALL)
_TOKEN = re.compile(r'["{}\[\],]')
_DEEPEST = 200
"""Levels of nesting that are followed, far more than an answer has: closing them costs time at each."""


def read_json(text: str) -> Any:
    """The JSON value in `text`, which may stand in white space and nothing else; a ValueError says what is wrong."""
    try:
        return parse_json(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def mended(text: str) -> str | None:
    """The object or list in `text` as JSON, cut back to its last whole entry and closed; None where there is none.

    Nothing is made up: all that is added are closing quotes and brackets.
    """
    fenced = _FENCED.search(text)
    inside = fenced[1] if fenced else text
    start = min((place for sign in _CLOSERS if (place := inside.find(sign)) >= 0), default=-1)
    if start < 0:
        return None
    return next((one for one in _endings(inside[start:]) if _is_json(one)), None)


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True


def _endings(text: str) -> Iterator[str]:
    """Ways in which `text`, which begins with a bracket, may end: those that keep most of it first."""
    stack: list[str] = []
    cuts: dict[str, tuple[int, str]] = {}
    place = 0
    while len(stack) <= _DEEPEST and (found := _TOKEN.search(text, place)):
        place, sign = found.end(), found[0]
        if sign == '"':
            string = _STRING.match(text, found.start())
            place = string.end() if string else place
            if string and not string[1]:
                yield text + '"' + _closing(stack)
        elif sign in _CLOSERS:
            stack.append(_CLOSERS[sign])
            cuts = {"bracket": (place, _closing(stack))}
        elif sign == ",":
            cuts["comma"] = (found.start(), _closing(stack))
        elif stack.pop() != sign:
            return
        elif not stack:
            yield text[:place]
            break
    yield text + _closing(stack)
    yield from (text[:cut] + closing for cut, closing in reversed(cuts.values()))


def _closing(stack: list[str]) -> str:
    return "".join(reversed(stack))
