"""Small pieces of YAML as a person would write them: short mappings in one line, bounds in quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from chaosgate.model.source import parse_source

WIDTH = 110
"""Columns from which on a mapping or a list is written in several lines, unless there are fewer."""
_PLAIN = re.compile(r"[A-Za-z0-9/]([A-Za-z0-9_./ :%-]*[A-Za-z0-9_./%-])?")


def yaml_lines(value: Any, indent: int = 0, width: int = WIDTH) -> list[str]:
    """`value` as lines of YAML."""
    return list(_block(value, " " * indent, width))


def entry_lines(key: str, value: Any, width: int = WIDTH) -> list[str]:
    """`key: value` as lines of YAML."""
    return list(_entry(f"{key}:", value, "", width))


def flow(value: Any) -> str:
    """`value` in one line."""
    match value:
        case Mapping():
            return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(flow, value)) + "]"
        case str():
            return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
        case _:
            return json.dumps(value)


def _block(value: Any, margin: str, width: int) -> Iterator[str]:
    if len(margin) + len(flow(value)) <= width or not value or not isinstance(value, (Mapping, list, tuple)):
        yield margin + flow(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _entry(f"{margin}{key}:", item, margin, width)
    else:
        for item in value:
            first, *rest = _block(item, margin + "  ", width)
            yield f"{margin}- {first.strip()}"
            yield from rest


def _entry(head: str, item: Any, margin: str, width: int) -> Iterator[str]:
    """One key: with its value behind it, or below it where that is too long."""
    line = f"{head} {flow(item)}"
    if len(line) <= width or not isinstance(item, (Mapping, list, tuple)):
        yield line
        return
    yield head
    yield from _block(item, margin + "  ", width)


def _is_plain(text: str) -> bool:
    """Whether `text` needs no quotes: it holds nothing that YAML reads as anything but this text."""
    if not _PLAIN.fullmatch(text) or ": " in text:
        return False
    return bool(parse_source(f"key: {text}", "a value").data["key"] == text)
