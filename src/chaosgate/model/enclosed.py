"""Files that a spec names, read into it: the resolved spec is whole, wherever its steps run.

A trace becomes its times and lengths, a file of prompts its text; both keep the digest of the file as it was read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaosgate.errors import Problem, UsageError
from chaosgate.model.source import DataPath
from chaosgate.model.trace_file import read_trace
from chaosgate.model.utf8 import utf8_text
from chaosgate.model.validation import value_at


@dataclass(frozen=True)
class Limits:
    """How much of a file is taken in."""

    requests: int
    """Of a trace."""
    prompt_bytes: int
    """Of a file of prompts."""
    anywhere: bool = False
    """Whether a file may lie outside the repository of whoever names it."""


OF_SPEC = Limits(requests=5_000, prompt_bytes=64 << 10)
"""A trace of some 90 KB: on Argo a step is handed its spec in a variable of 128 KiB at most."""
OF_LOAD = Limits(requests=1_000_000, prompt_bytes=4 << 20, anywhere=True)
"""For a load that is sent from where its files are, as `chaosgate load` does: no step is handed them."""
MAX_TRACE_BYTES = 16 << 20
"""The largest file of a trace that is read."""
Reader = Callable[[Path, Limits], tuple[bytes, dict[str, str]]]
"""Reads a file: its bytes, and the keys under which the spec holds them."""
WORKLOAD: DataPath = ("spec", "workload")


@dataclass
class Enclosed:
    """A spec's data with the files in it, and what was wrong with them."""

    data: Any
    problems: list[Problem] = field(default_factory=list)


def enclose(data: Any, folder: Path, limits: Limits = OF_SPEC) -> Enclosed:
    """`data` with the files that its workload names, read from `folder`; what holds its content already is left."""
    found = Enclosed(data)
    for path in _loads(data):
        for key, read in (("arrivals", _trace), ("prompts", _prompts)):
            given = value_at(data, (*path, key))
            if isinstance(given, dict) and isinstance(given.get("file"), str) and not _is_whole(given):
                file = folder / given["file"]
                if limits.anywhere or (problem := _strays(file, folder)) is None:
                    _take_in(found, (*path, key), read, file, limits)
                else:
                    found.problems.append(Problem((*path, key, "file"), problem))
    return found


def _strays(file: Path, folder: Path) -> str | None:
    """Why a spec may not name `file`: specs come from strangers too, and what they name must be theirs."""
    home = folder.resolve()
    root = next((parent for parent in (home, *home.parents) if (parent / ".git").exists()), home)
    if file.resolve().is_relative_to(root):
        return None
    return f"{file}: lies outside {root}; a spec takes in files of its own repository, or of its own folder, alone"


def _loads(data: Any) -> Iterator[DataPath]:
    """Where a spec has a load: its workload and each of its tenants."""
    yield WORKLOAD
    tenants = value_at(data, (*WORKLOAD, "tenants"))
    for index in range(len(tenants) if isinstance(tenants, list) else 0):
        yield (*WORKLOAD, "tenants", index)


def _is_whole(given: dict[str, Any]) -> bool:
    return "rows" in given or "text" in given


def _take_in(found: Enclosed, path: DataPath, read: Reader, file: Path, limits: Limits) -> None:
    try:
        content, held = read(file, limits)
    except UsageError as error:
        found.problems += [Problem((*path, "file"), line) for line in str(error).splitlines()]
    else:
        written = {**value_at(found.data, path), "sha256": hashlib.sha256(content).hexdigest(), **held}
        found.data = _with(found.data, path, written)


def _bytes(file: Path, most: int) -> bytes:
    try:
        if file.is_fifo() or file.is_socket():
            raise UsageError(f"{file}: is a pipe or a socket, and no file that can be read twice; write it to a file")
        with file.open("rb") as opened:
            content = opened.read(most + 1)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise UsageError(f"{file}: cannot be read: {cause}; a name counts from where it is written") from error
    if len(content) > most:
        raise UsageError(f"{file}: is larger than {most >> 10} KiB, the most that is taken in; name a part of it")
    return content


def _trace(file: Path, limits: Limits) -> tuple[bytes, dict[str, str]]:
    content = _bytes(file, MAX_TRACE_BYTES)
    rows = read_trace(content, str(file))
    if len(rows.times) > limits.requests:
        raise UsageError(
            f"{file}: has {len(rows.times)} requests; at most {limits.requests} are taken in: cut the file, such as by "
            f"`head -n {limits.requests + 1} {file.name} > part{file.suffix}`"
        )
    return content, {"rows": str(rows)}


def _prompts(file: Path, limits: Limits) -> tuple[bytes, dict[str, str]]:
    content = _bytes(file, limits.prompt_bytes)
    return content, {"text": utf8_text(content, str(file))}


def _with(data: Any, path: DataPath, value: Any) -> Any:
    """`data` with `value` at `path`; nothing else of it is changed."""
    if not path:
        return value
    first, *rest = path
    if isinstance(data, dict):
        return {**data, first: _with(data[first], tuple(rest), value)}
    return [_with(item, tuple(rest), value) if index == first else item for index, item in enumerate(data)]
