"""JSON read strictly: what Python's reader lets through and RFC 8259 does not define is refused with a ValueError."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """The value in `text`; a ValueError for NaN, infinity, a number too large for one, or a key that stands twice."""
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_refuse_doubles)


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits[:40]} is too large for a number")
    return number


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that stands twice leaves open which of its values is meant, and a digest covers only the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        double, _ = next(item for item in Counter(key for key, _ in pairs).items() if item[1] > 1)
        raise ValueError(f"the key {double[:40]!r} stands twice in one object")
    return found
