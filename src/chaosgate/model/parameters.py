"""The declared parameters of a spec: their values, and filling them in where `{{ parameters.NAME }}` stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from chaosgate.errors import Problem
from chaosgate.model.source import DataPath, yaml_type
from chaosgate.model.spec import Parameter
from chaosgate.model.validation import validate, value_at
from chaosgate.registry import nearest, unknown
from chaosgate.units import HINTS, Dimension, parse_value

DECLARATIONS: DataPath = ("spec", "parameters")
_PLACEHOLDER = re.compile(r"\{\{\s*parameters\.([A-Za-z0-9_-]+)\s*\}\}")
_ANY_BRACES = re.compile(r"\{\{.*?(\}\}|$)", re.DOTALL)
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_DIMENSIONS: dict[str, Dimension] = {"rate": "rate", "duration": "duration", "share": "share", "integer": "count"}
"""By a parameter's type; a text has none."""
_TEXT_HINT = "text in quotes"
MAX_TEXT = 1_000
"""Characters of a value: it is written out wherever its parameter is used, and a long one would swell the spec."""


class Given(Protocol):
    """A value that a parameter is given from outside; where it comes from decides its form and where errors stand."""

    @property
    def name(self) -> str:
        """The parameter's name."""

    def value(self, parameter: Parameter) -> str | int:
        """The value in the type of `parameter`; a ValueError says what is allowed."""

    def problem(self, message: str, *, declared: bool = True) -> Problem:
        """What is wrong with it, at its place; `declared`: whether there is such a parameter."""


@dataclass(frozen=True)
class Setting:
    """`--set NAME=TEXT` on the command line. What is wrong with it stands where the parameter is declared."""

    name: str
    text: str

    def value(self, parameter: Parameter) -> str | int:
        """The text in the type of `parameter`; a ValueError says what is allowed."""
        text = self.text.strip()
        _short(text)
        if parameter.type != "integer":
            return checked_value(text, parameter)
        if not _INTEGER.fullmatch(text):
            raise ValueError(f"read {text!r}; write {HINTS['count']}")
        return checked_value(int(text), parameter)

    def problem(self, message: str, *, declared: bool = True) -> Problem:
        """`--set NAME=TEXT: message` at the declaration."""
        text = self.text.strip()
        shown = text if len(text) <= MAX_TEXT else "..."
        path = (*DECLARATIONS, self.name) if declared else DECLARATIONS
        return Problem(path, f"--set {self.name}={shown}: {message}")


@dataclass
class Filled:
    """A spec's data with its placeholders filled in, and what was wrong on the way.

    `spoilt` are the places whose placeholder could not be filled; whatever else is wrong there follows from that.
    """

    data: Any
    problems: list[Problem] = field(default_factory=list)
    spoilt: set[DataPath] = field(default_factory=set)


def fill(data: Any, given: Sequence[Given]) -> Filled:
    """`data` with every `{{ parameters.NAME }}` replaced by its default or by the last value that it is `given`.

    A placeholder that is a whole value keeps the parameter's type; inside a longer text it is written out.
    """
    declared = value_at(data, DECLARATIONS)
    filler = _Filler(declared if isinstance(declared, dict) else {}, given)
    filler.read_declarations()
    filled = filler.fill(data, ())
    filler.report_unused()
    return Filled(filled, filler.problems, filler.spoilt)


@dataclass
class _Filler:
    declared: dict[str, Any]
    given: Sequence[Given]
    values: dict[str, str | int] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    spoilt: set[DataPath] = field(default_factory=set)

    def read_declarations(self) -> None:
        for one in self.given:
            if one.name not in self.declared:
                self.problems.append(one.problem(unknown("parameter", one.name, self.declared), declared=False))
        for name, declaration in self.declared.items():
            parameter, _ = validate(Parameter, declaration)
            problems = list(self._nested(name, declaration))
            if parameter and not problems:
                problems = _declaration_problems(name, parameter)
            self.problems += problems
            if parameter and not problems:
                self._choose(name, parameter)

    def _nested(self, name: str, declaration: Any) -> Iterator[Problem]:
        for key, value in declaration.items() if isinstance(declaration, dict) else ():
            if isinstance(value, str) and "{{" in value:
                self.used.update(_PLACEHOLDER.findall(value))
                message = f"read {yaml_type(value)}; a parameter cannot use another one"
                yield Problem((*DECLARATIONS, name, key), message)

    def _choose(self, name: str, parameter: Parameter) -> None:
        """The last value given, once every one of them is right: a wrong one is refused, though another would win."""
        value, right = parameter.default, True
        for one in self.given:
            if one.name == name:
                try:
                    value = one.value(parameter)
                except ValueError as error:
                    self.problems.append(one.problem(str(error)))
                    right = False
        if right:
            self.values[name] = value

    def fill(self, data: Any, path: DataPath) -> Any:
        if path == DECLARATIONS:
            return data
        if isinstance(data, dict):
            return {key: self.fill(value, (*path, key)) for key, value in data.items()}
        if isinstance(data, list):
            return [self.fill(value, (*path, index)) for index, value in enumerate(data)]
        return self._text(data, path) if isinstance(data, str) and "{{" in data else data

    def _text(self, text: str, path: DataPath) -> str | int:
        names = _PLACEHOLDER.findall(text)
        rest = _ANY_BRACES.search(_PLACEHOLDER.sub("", text))
        if rest:
            return self._spoil(path, f"read {rest[0]!r}; only {{{{ parameters.NAME }}}} can be filled in", text)
        self.used.update(names)
        for name in names:
            if name not in self.declared:
                return self._spoil(path, unknown("parameter", name, self.declared), text)
            if name not in self.values:
                self.spoilt.add(path)
                return text
        if _PLACEHOLDER.fullmatch(text.strip()):
            return self.values[names[0]]
        return _PLACEHOLDER.sub(lambda match: str(self.values[match[1]]), text)

    def _spoil(self, path: DataPath, message: str, text: str) -> str:
        self.problems.append(Problem(path, message))
        self.spoilt.add(path)
        return text

    def report_unused(self) -> None:
        meant = {nearest(name, list(self.declared)) for name in self.used - set(self.declared)}
        for name in self.declared:
            if name not in self.used | meant:
                message = (
                    f'is declared but never used; write "{{{{ parameters.{name} }}}}" where it belongs or remove it'
                )
                self.problems.append(Problem((*DECLARATIONS, name), message, at_key=True))


def checked_value(value: Any, parameter: Parameter) -> str | int:
    """`value` as a value of `parameter`, within its limits; a ValueError says what is allowed."""
    if isinstance(value, str) and "{{" in value:
        raise ValueError(f"read {yaml_type(value)}; a parameter cannot use another one")
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ValueError(f"read {yaml_type(value)}; write {_hint(parameter)}")
    _checked("default", value, parameter)
    _within(value, parameter)
    return value


def _declaration_problems(name: str, parameter: Parameter) -> list[Problem]:
    """What is wrong with the values of a declaration whose form is right."""
    problems = []
    for key in ("min", "max", "default"):
        value = getattr(parameter, key)
        try:
            if value is not None:
                _checked(key, value, parameter)
        except ValueError as error:
            problems.append(Problem((*DECLARATIONS, name, key), str(error)))
    if not problems:
        try:
            _within(parameter.default, parameter)
        except ValueError as error:
            problems.append(Problem((*DECLARATIONS, name, "default"), str(error)))
    return problems


def _checked(key: str, value: str | int, parameter: Parameter) -> None:
    _short(value)
    if parameter.type == "string" and key != "default":
        raise ValueError(f"`{key}` does not go with `type: string`; remove it")
    if parameter.type == "integer" and not isinstance(value, int):
        raise ValueError(f"read {yaml_type(value)}; write {HINTS['count']}")
    if parameter.type == "string" and not isinstance(value, str):
        raise ValueError(f"read {yaml_type(value)}; write {_TEXT_HINT}")
    _number(value, parameter)


def _short(value: str | int) -> None:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise ValueError(f"read a text of {len(value):,} characters; at most {MAX_TEXT:,} are allowed")


def _hint(parameter: Parameter) -> str:
    dimension = _DIMENSIONS.get(parameter.type)
    return HINTS[dimension] if dimension else _TEXT_HINT


def _within(value: str | int, parameter: Parameter) -> None:
    """A ValueError when the value lies outside `min` and `max`."""
    number = _number(value, parameter)
    if parameter.min is not None and number < _number(parameter.min, parameter):
        raise ValueError(f"read {value!r}; at least {parameter.min} is needed (the parameter's min)")
    if parameter.max is not None and number > _number(parameter.max, parameter):
        raise ValueError(f"read {value!r}; at most {parameter.max} is allowed (the parameter's max)")


def _number(value: str | int, parameter: Parameter) -> float:
    dimension = _DIMENSIONS.get(parameter.type)
    return parse_value(value, dimension) if dimension else 0.0
