"""The numbers and words of nested data, each with its path: for flat properties and for naming what differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chaosgate.errors import dotted


def leaves(data: Any, *path: str | int) -> Iterator[tuple[str, str]]:
    """Path and text of every value of JSON-ready `data`; a list of plain values is one value; None and [] are left out.

    Items that have a name go by it: `faults.slow-wire.jitter`, whatever their order.
    """
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, *path, key)
    elif isinstance(data, list) and any(isinstance(item, (dict, list)) for item in data):
        for index, item in enumerate(data):
            key, value = _named(index, item)
            yield from leaves(value, *path, key)
    elif isinstance(data, list) and data:
        yield dotted(path), ", ".join(map(_text, data))
    elif data is not None and data != []:
        yield dotted(path), _text(data)


def _named(index: int, item: Any) -> tuple[str | int, Any]:
    """An item of a list under its own name, else under its place."""
    if isinstance(item, dict) and isinstance(item.get("name"), str):
        return item["name"], {key: value for key, value in item.items() if key != "name"}
    return index, item


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
