"""Values files: a YAML mapping of parameters to values in their types, such as `rate: 20/s`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from chaosgate.errors import Problem
from chaosgate.model.parameters import checked_value
from chaosgate.model.source import VALUES, Source, below, read_source
from chaosgate.model.spec import Parameter


@dataclass(frozen=True)
class FileValue:
    """One value of a values file. What is wrong with it stands in that file."""

    name: str
    source: Source

    def value(self, parameter: Parameter) -> str | int:
        """What stands there; a ValueError where it has another type than `parameter` or lies outside its limits."""
        return checked_value(self.source.data[self.name], parameter)

    def problem(self, message: str, *, declared: bool = True) -> Problem:
        """`message` at the value, or at its name where no such parameter is declared."""
        return self.source.place(Problem((self.name,), message, at_key=not declared))


@dataclass(frozen=True)
class ValuesFile:
    """The values of one file, and what of it could not be read."""

    given: tuple[FileValue, ...]
    problems: tuple[Problem, ...]


def read_values(path: Path) -> ValuesFile:
    """The values in the file at `path`; whether they fit is seen beside the spec that declares the parameters.

    A SpecError says why the file cannot be read or is no YAML.
    """
    source = read_source(path, VALUES)
    refused = source.refused()
    names = source.data if isinstance(source.data, dict) else {}
    given = tuple(FileValue(name, source) for name in names if not below((name,), refused))
    return ValuesFile(given, source.problems)
