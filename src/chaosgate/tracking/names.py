"""Names and texts in the form MLflow takes: its letters, its lengths, flat keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chaosgate.units import Dimension

MAX_KEY = 250
"""The longest key of a parameter, metric or tag (MLflow's MAX_ENTITY_KEY_LENGTH)."""
MAX_PARAM = 6000
"""The longest value of a parameter (MLflow's MAX_PARAM_VAL_LENGTH)."""
MAX_TAG = 5000
"""The longest value of a tag that every MLflow server takes; newer ones take 8,000."""
_CUT = " ... (cut)"
_COMPARISONS = {"<=": "le", ">=": "ge", "<": "lt", ">": "gt"}
_REFUSED = re.compile(r"[^A-Za-z0-9_./-]+")
_UNITS: dict[Dimension, str] = {"duration": "_s", "rate": "_per_s", "share": "_share", "count": "_count", "number": ""}


def key(text: str) -> str:
    """`text` as a key: `dose <= 5 %` becomes `dose-le-5-percent`. `/` stays, for the UI groups metrics by it."""
    for sign, word in _COMPARISONS.items():
        text = text.replace(sign, word + " ")
    words = _REFUSED.sub("-", text.replace("%", " percent"))
    return re.sub("-{2,}", "-", words).strip("-./")[:MAX_KEY]


def metric_key(place: str, name: str, dimension: Dimension) -> str:
    """`place/name_unit`, such as `baseline/ttft-p95_s`: values are in base units, and the key says which."""
    return key(f"{place}/{name}{_UNITS[dimension]}")


def flat(prefix: str, data: Any) -> dict[str, str]:
    """JSON-ready `data` as flat parameters: keys joined by dots, a list as one value, None left out."""
    return {key(path): cut(text, MAX_PARAM) for path, text in _leaves(prefix, data)}


def cut(text: str, length: int) -> str:
    """`text`, or its beginning with a mark where it is longer than `length`."""
    return text if len(text) <= length else text[: length - len(_CUT)] + _CUT


def _leaves(path: str, data: Any) -> Iterator[tuple[str, str]]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _leaves(f"{path}.{name}", value)
    elif isinstance(data, list):
        if any(isinstance(item, dict) for item in data):
            yield from _leaves(path, {str(number): item for number, item in enumerate(data)})
        else:
            yield path, ", ".join(map(str, data))
    elif data is not None:
        yield path, str(data)
