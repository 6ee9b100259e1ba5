"""Files that a spec names, read into it: the resolved spec is whole, wherever its steps run.

A trace becomes its times and lengths, a file of prompts its text; both keep the digest of the file as it was read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaosgate.errors import Problem, UsageError
from chaosgate.model.source import DataPath
from chaosgate.model.trace_file import read_trace
from chaosgate.model.validation import value_at

MAX_PROMPT_BYTES = 256 << 10
"""The largest file of prompts that a spec may hold: its resolved form travels whole to every step."""
MAX_TRACE_BYTES = 16 << 20
"""The largest file of a trace that is read."""
WORKLOAD: DataPath = ("spec", "workload")


@dataclass
class Enclosed:
    """A spec's data with the files in it, and what was wrong with them."""

    data: Any
    problems: list[Problem] = field(default_factory=list)


def enclose(data: Any, folder: Path) -> Enclosed:
    """`data` with the files that its workload names, read from `folder`; what holds its content already is left."""
    found = Enclosed(data)
    for path in _loads(data):
        for key, reader in (("arrivals", _trace), ("prompts", _prompts)):
            given = value_at(data, (*path, key))
            if isinstance(given, dict) and isinstance(given.get("file"), str) and not _is_whole(given):
                _read(found, (*path, key), given, folder, reader)
    return found


def _loads(data: Any) -> Iterator[DataPath]:
    """Where a spec has a load: its workload and each of its tenants."""
    yield WORKLOAD
    tenants = value_at(data, (*WORKLOAD, "tenants"))
    for index in range(len(tenants) if isinstance(tenants, list) else 0):
        yield (*WORKLOAD, "tenants", index)


def _is_whole(given: dict[str, Any]) -> bool:
    return "times" in given or "text" in given


def _read(found: Enclosed, path: DataPath, given: dict[str, Any], folder: Path, reader: Any) -> None:
    file = folder / given["file"]
    try:
        content = _bytes(file, MAX_TRACE_BYTES if reader is _trace else MAX_PROMPT_BYTES)
        written = {**given, "sha256": hashlib.sha256(content).hexdigest(), **reader(content, str(file))}
    except UsageError as error:
        found.problems += [Problem((*path, "file"), line) for line in str(error).splitlines()]
    else:
        found.data = _with(found.data, path, written)


def _bytes(file: Path, most: int) -> bytes:
    try:
        with file.open("rb") as opened:
            content = opened.read(most + 1)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise UsageError(f"{file}: cannot be read: {cause}; a file is named relative to the spec") from error
    if len(content) > most:
        raise UsageError(f"{file}: is larger than {most >> 10} KiB, the most that a spec takes in; name a part of it")
    return content


def _trace(content: bytes, file: str) -> dict[str, Any]:
    rows = read_trace(content, file)
    lengths = {"inputs": rows.inputs, "outputs": rows.outputs}
    return {"times": rows.times, **{key: value for key, value in lengths.items() if value is not None}}


def _prompts(content: bytes, file: str) -> dict[str, Any]:
    try:
        return {"text": content.decode("utf-8-sig")}
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: byte {error.start} is no UTF-8; save the file as UTF-8") from error


def _with(data: Any, path: DataPath, value: Any) -> Any:
    """`data` with `value` at `path`; nothing else of it is changed."""
    if not path:
        return value
    first, *rest = path
    if isinstance(data, dict):
        return {**data, first: _with(data[first], tuple(rest), value)}
    return [_with(item, tuple(rest), value) if index == first else item for index, item in enumerate(data)]
