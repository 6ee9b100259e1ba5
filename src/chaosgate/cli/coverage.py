"""How much of the catalogue is kept: rows are checked against registries and tests, and every kind must have a row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import click
import yaml
from pydantic import ValidationError

from chaosgate.errors import UsageError
from chaosgate.model.base import Frozen
from chaosgate.model.breaker import BREAKERS
from chaosgate.model.fault import FAULTS
from chaosgate.model.filter import FILTERS
from chaosgate.model.fit import FITS
from chaosgate.model.sli import SLIS
from chaosgate.registry import Registry, unknown

REGISTRIES: dict[str, Registry[Any]] = {
    "fault": FAULTS,
    "filter": FILTERS,
    "sli": SLIS,
    "fit": FITS,
    "breaker": BREAKERS,
}
BUILT_IN = "chaosgate."


class Row(Frozen):
    """One promise of the catalogue."""

    id: str
    section: str
    kind: Literal["fault", "filter", "sli", "fit", "breaker", "rule", "gate", "later"]
    name: str | None
    """The registered name, proposed while the row is open; None where nothing is registered."""
    status: Literal["open", "done"]
    what: str
    test: str | None = None
    """The file that proves a done row, relative to the catalogue: it names `name`; without one it is FILE::FUNCTION."""


@dataclass(frozen=True)
class Coverage:
    """How many rows are done, of how many, and every way in which the catalogue is not true. Open rows are none."""

    done: int
    total: int
    problems: tuple[str, ...]

    def render(self) -> str:
        """The problems, one a line, and a last line that counts."""
        counts = (
            f"{self.done} of {self.total} promises kept, {self.total - self.done} open, {len(self.problems)} problems"
        )
        return "\n".join((*self.problems, counts))


def read_catalogue(path: Path) -> list[Row]:
    """The rows of a catalogue file; a UsageError names the row that cannot be read."""
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; name the catalogue with --file FILE") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: is no YAML: {error}") from error
    if not isinstance(data, list):
        raise UsageError(f"{path}: holds a {type(data).__name__}; a list of rows is needed")
    return [_row(path, number, item) for number, item in enumerate(data)]


def coverage(rows: Sequence[Row], root: Path) -> Coverage:
    """What is true of `rows`; tests are looked for below `root`, the folder of the catalogue."""
    done = [row for row in rows if row.status == "done"]
    problems = [*_doubles(rows), *_kinds_without_row(rows)]
    for row in rows:
        problems += _open_problems(row) if row.status == "open" else _done_problems(row, root)
    return Coverage(len(done), len(rows), tuple(problems))


def print_coverage(path: Path, output: str) -> None:
    """Print the coverage of a catalogue file as text or JSON; exit code 1 when it has problems."""
    found = coverage(read_catalogue(path), path.resolve().parent)
    click.echo(json.dumps(asdict(found), indent=2) if output == "json" else found.render())
    if found.problems:
        raise click.exceptions.Exit(1)


def _row(path: Path, number: int, item: Any) -> Row:
    try:
        return Row.model_validate(item)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in (number, *first["loc"]))
        raise UsageError(f"{path}: row {where}: {first['msg']}; read {first['input']!r}") from error


def _doubles(rows: Sequence[Row]) -> Iterator[str]:
    for what, words in (
        ("id", Counter(row.id for row in rows)),
        ("name", Counter(f"{row.kind} {row.name}" for row in rows if row.name)),
    ):
        yield from (f"{what} {word!r} has {count} rows; keep one" for word, count in words.items() if count > 1)


def _kinds_without_row(rows: Sequence[Row]) -> Iterator[str]:
    known = {(row.kind, row.name) for row in rows}
    for sort, registry in REGISTRIES.items():
        for name, kind in registry.items():
            # A plug-in's kinds are promised by its own authors.
            if kind.__module__.startswith(BUILT_IN) and (sort, name) not in known:
                yield f"{registry.noun} {name!r} is registered by {kind.__module__} and has no row; add one"


def _open_problems(row: Row) -> Iterator[str]:
    if row.kind in REGISTRIES and row.name in REGISTRIES[row.kind]:
        yield f"{row.id}: is open, but {row.kind} {row.name!r} is registered; name its test and set it to done"


def _done_problems(row: Row, root: Path) -> Iterator[str]:
    if row.kind in REGISTRIES:
        registry = REGISTRIES[row.kind]
        if row.name is None or row.name not in registry:
            yield f"{row.id}: is done, but {unknown(registry.noun, str(row.name), registry.names())}"
    yield from _test_problems(row, root)


def _test_problems(row: Row, root: Path) -> Iterator[str]:
    if row.test is None:
        yield f"{row.id}: is done without a test; name the file that proves it"
        return
    file, _, function = row.test.partition("::")
    path = root / file
    if not path.is_file():
        yield f"{row.id}: its test {file} does not exist; name a file below {root}"
        return
    wanted = f"def {function}(" if function else f'"{row.name}"'
    if row.name is None and not function:
        yield f"{row.id}: has no name, so its test must be FILE::FUNCTION; read {row.test}"
    elif wanted not in path.read_text(encoding="utf-8"):
        yield f"{row.id}: its test {file} does not contain {wanted}; name the test that proves it"
