"""YAML read strictly: plain data, and where each value and key stands in the file.

Scalars follow the YAML 1.2 core schema (https://yaml.org/spec/1.2.2/#103-core-schema): only true and false are
booleans, 010 is ten, 0o10 is eight, and a date is text. Whatever YAML allows beyond plain data (tags, merge keys,
several documents, keys that are no text) is refused with the place and the way out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from chaosgate.errors import Problem, SpecError
from chaosgate.model.uri import without_password
from chaosgate.model.yaml_words import explain
from chaosgate.registry import nearest, unknown

MAX_BYTES = 1 << 20
"""The largest spec that is read, in bytes; a long hand-written spec has some ten thousand."""
MAX_VALUES = 10_000
"""The most values a spec may hold once its aliases are expanded: a few lines of aliases can stand for billions."""
MAX_DEPTH = 64
"""The deepest nesting that is read; the deepest place of a spec lies below 16."""

DataPath = tuple[str | int, ...]
BOUND_KEYS = ("bound", "change", "lower", "upper", "dose")
"""Keys whose values are bounds, where a bare `>` would start a folded block of text."""

_NULL = re.compile(r"|~|null|Null|NULL")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MAX_DIGITS = 18
"""Digits of an integer that always fit into 64 bits."""


@dataclass(frozen=True)
class Form:
    """What a file should hold, in the words of the errors about one that holds something else."""

    noun: str
    holds: str
    empty: str
    """What to do with a file that holds nothing."""
    shape: str


SPEC = Form(
    noun="spec",
    holds="a chaos spec",
    empty="`chaosgate init` writes a first spec",
    shape="a spec is a mapping that starts with `apiVersion:`",
)
PROFILE = Form(
    noun="profile",
    holds="a chaos profile",
    empty="a profile starts with `apiVersion: chaosgate/v1` and `kind: ChaosProfile`",
    shape="a profile is a mapping that starts with `apiVersion:`",
)
VALUES = Form(
    noun="set of values",
    holds="values of parameters",
    empty="write a line for a parameter, such as `rate: 20/s`",
    shape="a values file maps parameters to values, such as `rate: 20/s`",
)

SPEC_KIND = "ChaosSpec"
PROFILE_KIND = "ChaosProfile"
_OTHER_KINDS = {
    SPEC_KIND: "a profile goes with a spec: name the spec here, and this file with --profile",
    PROFILE_KIND: "a profile says `kind: ChaosProfile` and holds what differs from a spec",
}
"""By the kind that is wanted: what to do with a document of the other one."""


@dataclass(frozen=True)
class Mark:
    """A place in a file; line and column count from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """A YAML document as plain data (dict, list, str, int, float, bool, None), and where its values and keys stand.

    `problems` is what was refused on the way; in the data None stands in its place.
    """

    file: str
    data: Any
    values: dict[DataPath, Mark]
    keys: dict[DataPath, Mark]
    problems: tuple[Problem, ...]

    def locate(self, path: DataPath, at_key: bool = False) -> Mark:
        """Where the value at `path` stands, or its key; for a value that is missing, the nearest one around it."""
        if at_key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Mark(1, 1))

    def place(self, problem: Problem) -> Problem:
        """`problem` with its place in this file."""
        mark = self.locate(problem.path, problem.at_key)
        return replace(problem, line=mark.line, column=mark.column, file=self.file)

    def refused(self) -> set[DataPath]:
        """The places whose value could not be read."""
        return {one.path for one in self.problems if not one.at_key}


def meant_kind(data: Any) -> str | None:
    """The kind of document that `data` is meant to be by its `kind`, also where that is misspelt; None: of none."""
    kind = data.get("kind") if isinstance(data, dict) else None
    return nearest(kind, (SPEC_KIND, PROFILE_KIND)) if isinstance(kind, str) else None


def kind_problem(data: Any, wanted: str) -> Problem | None:
    """Why `data` is a document of another kind than `wanted`: then nothing else that is said of it would help."""
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or meant_kind(data) == wanted:
        return None
    if meant_kind(data) is None:
        return Problem(("kind",), unknown("kind", kind, (SPEC_KIND, PROFILE_KIND)))
    return Problem(("kind",), f"read {kind!r}; {_OTHER_KINDS[wanted]}")


def below(path: DataPath, places: Iterable[DataPath]) -> bool:
    """Whether `path` lies at or below one of `places`."""
    return any(path[: len(place)] == place for place in places)


def follows(path: DataPath, spoilt: Iterable[DataPath]) -> bool:
    """Whether a problem at `path` only follows from a value that could not be read: it lies below or around it."""
    return any(path[: len(place)] == place[: len(path)] for place in spoilt)


def read_source(path: Path, form: Form = SPEC) -> Source:
    """The YAML file at `path`. A SpecError says why it cannot be read or is no YAML."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise _refused(str(path), f"cannot be read: {cause}; name a YAML file that holds {form.holds}") from error
    if len(data) > MAX_BYTES:
        raise _refused(str(path), f"is larger than {MAX_BYTES} bytes, the most that is read; is it {form.holds}?")
    return parse_source(_decode(str(path), data), str(path), form)


def parse_source(text: str, file: str, form: Form = SPEC) -> Source:
    """`text` as a YAML document; `file` names it in a SpecError about its syntax."""
    root = _compose(text, file, form)
    if root is None:
        raise _refused(file, f"is empty; {form.empty}")
    reader = _Reader(file, form)
    data = reader.value(root, ())
    if not reader.problems and not isinstance(data, dict):
        reader.refuse((), root, f"read {yaml_type(data)}; {form.shape}")
    return Source(file, data, reader.values, reader.keys, tuple(reader.problems))


def yaml_type(value: Any) -> str:
    """What a value is called to people who write YAML: `{key: ...}`, `a list`, `nothing`, `true`, `5` or `'text'`."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case dict() if 0 < len(value) <= 3 and sum(map(len, map(str, value))) <= 60:
            return "{" + ", ".join(f"{key}: ..." for key in value) + "}"
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case str() if (shown := without_password(value)) != value:
            return repr(shown if len(shown) <= 60 else shown[:57] + "...")
        case str() if len(value) > 60:
            return repr(value[:57] + "...")
        case _:
            return repr(value)


class _Loader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """PyYAML's composer, in C where it is built so. A tag is empty unless the document names one."""

    def resolve(self, kind: type[yaml.Node], value: object, implicit: object) -> str:
        return ""


def _decode(file: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise _refused(
            file, f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8", line, column
        ) from None


def _compose(text: str, file: str, form: Form) -> yaml.Node | None:
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise SpecError(file, [replace(explain(error, text, form.noun), file=file)]) from None
    except RecursionError:
        raise _refused(file, f"is nested deeper than {MAX_DEPTH} levels") from None
    return node


def _refused(file: str, message: str, line: int = 0, column: int = 0) -> SpecError:
    return SpecError(file, [Problem((), message, line, column, file=file)])


@dataclass
class _Reader:
    """Turns nodes into data, and collects marks and problems on the way."""

    file: str
    form: Form
    values: dict[DataPath, Mark] = field(default_factory=dict)
    keys: dict[DataPath, Mark] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    full: bool = False

    def refuse(self, path: DataPath, node: yaml.Node, message: str, at_key: bool = False) -> None:
        mark = _mark(node)
        self.problems.append(Problem(path, message, mark.line, mark.column, at_key, self.file))

    def value(self, node: yaml.Node, path: DataPath) -> Any:
        if self.full or not self._fits(node, path):
            return None
        self.values[path] = _mark(node)
        if node.tag:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            self.refuse(path, node, f"read the tag {tag}; tags are not supported: write the plain value")
            return None
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _fits(self, node: yaml.Node, path: DataPath) -> bool:
        if len(self.values) < MAX_VALUES and len(path) <= MAX_DEPTH:
            return True
        self.full = True
        limit = f"nested deeper than {MAX_DEPTH} levels" if len(path) > MAX_DEPTH else f"more than {MAX_VALUES} values"
        self.refuse((), node, f"{limit} (aliases count wherever they are used); write a smaller {self.form.noun}")
        return False

    def _mapping(self, node: yaml.Node, path: DataPath) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, key_node, value_node in self._entries(node, path):
            where = (*path, key)
            if key in data:
                first = self.keys[where]
                self.refuse(
                    where, key_node, f"key {key!r} is given twice, first in line {first.line}; remove one", True
                )
                continue
            self.keys[where] = _mark(key_node)
            data[key] = self.value(value_node, where)
        return data

    def _entries(self, node: yaml.Node, path: DataPath) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._refuse_key(key_node, path)
                continue
            key = key_node.value if key_node.style else _plain(key_node.value)
            if not isinstance(key, str) or key_node.tag:
                self.refuse(path, key_node, f"read the key {key_node.value!r}; a key is plain text: put it in quotes")
            elif key == "<<" and not key_node.style:
                self.refuse(path, key_node, "read the merge key `<<`; it is not supported: write the keys out")
            else:
                yield key, key_node, value_node

    def _refuse_key(self, node: yaml.Node, path: DataPath) -> None:
        if isinstance(node, yaml.MappingNode) and node.flow_style:
            self.refuse(path, node, 'read `{{` outside quotes; quote it: "{{ parameters.NAME }}"')
        else:
            self.refuse(path, node, "read a list or a mapping as a key; a key is plain text")

    def _scalar(self, node: yaml.ScalarNode, path: DataPath) -> Any:
        if node.style == ">" and path and path[-1] in BOUND_KEYS:
            self.refuse(path, node, f'`>` starts a block of text in YAML; quote it: {path[-1]}: "> 5"')
            return None
        if node.style:
            return node.value
        try:
            return _plain(node.value)
        except ValueError as error:
            self.refuse(path, node, str(error))
            return None


def _plain(text: str) -> Any:
    """A plain scalar by the YAML 1.2 core schema; a ValueError for a number that is not finite or too long."""
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text) or _BASED.fullmatch(text):
        if len(text) > _MAX_DIGITS:
            raise ValueError(f"read a number of {len(text)} digits; at most {_MAX_DIGITS} are allowed")
        return int(text, 10) if _INTEGER.fullmatch(text) else int(text, 0)
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"read {text}; numbers are finite")
    if _FLOAT.fullmatch(text):
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise ValueError(f"read {yaml_type(text)}, which is too large for a number")
        return number
    return text


def _mark(node: yaml.Node) -> Mark:
    return Mark(node.start_mark.line + 1, node.start_mark.column + 1)
