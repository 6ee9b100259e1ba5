"""From a YAML file to a `ChaosSpec`, or to one error that lists everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from chaosgate.errors import Problem, SpecError
from chaosgate.model.breaker import BREAKERS, Breaker
from chaosgate.model.check import (
    BREAKER_LIST,
    FAULT_LIST,
    FILTER_LIST,
    FIT_LIST,
    OBJECTIVE_LIST,
    SLO_LIST,
    STEADY_LIST,
    STOP_LIST,
    Draft,
    check,
)
from chaosgate.model.enclosed import enclose
from chaosgate.model.fault import FAULTS, Fault
from chaosgate.model.filter import FILTERS, Filter
from chaosgate.model.fit import FITS, Fit
from chaosgate.model.kinds import validate_kind
from chaosgate.model.observation import RequestBound
from chaosgate.model.parameters import Given, Setting, fill
from chaosgate.model.profile import Overlaid, Profile, overlay
from chaosgate.model.safety import StopCondition
from chaosgate.model.source import (
    SPEC,
    SPEC_KIND,
    DataPath,
    Source,
    below,
    follows,
    kind_problem,
    parse_source,
    read_source,
    yaml_type,
)
from chaosgate.model.spec import ChaosSpec, Objective, SteadyObjective
from chaosgate.model.validation import validate, value_at
from chaosgate.model.values import ValuesFile
from chaosgate.registry import Registry, load_kinds

_NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class _Items:
    """What stands in a list of a spec: `base` itself, or one of the kinds in its registry."""

    base: type[BaseModel]
    kinds: Registry[Any] | None = None


_LISTS: dict[DataPath, _Items] = {
    FAULT_LIST: _Items(Fault, FAULTS),
    FIT_LIST: _Items(Fit, FITS),
    BREAKER_LIST: _Items(Breaker, BREAKERS),
    FILTER_LIST: _Items(Filter, FILTERS),
    OBJECTIVE_LIST: _Items(Objective),
    STEADY_LIST: _Items(SteadyObjective),
    SLO_LIST: _Items(RequestBound),
    STOP_LIST: _Items(StopCondition),
}
"""Lists whose items are validated one by one, so that a broken item does not keep the others from being checked."""


def load_spec(path: Path, settings: Mapping[str, str] = _NO_SETTINGS) -> ChaosSpec:
    """The spec in the YAML file at `path`, with `settings` in place of its parameters' defaults.

    A SpecError lists every problem at once, each with its place in the file.
    """
    return resolve(read_source(path), settings).spec


def parse_spec(text: str, file: str) -> ChaosSpec:
    """The spec in the YAML `text`; `file` names it in a SpecError."""
    return resolve(parse_source(text, file)).spec


@dataclass(frozen=True)
class Resolved:
    """A spec, and where in its files each of its values stands."""

    spec: ChaosSpec
    document: Overlaid


def resolve(
    source: Source,
    settings: Mapping[str, str] = _NO_SETTINGS,
    values: Sequence[ValuesFile] = (),
    profile: Profile | None = None,
) -> Resolved:
    """The spec in `source`, changed by `profile`, with its parameters' values.

    A parameter has its default, else what the last of `values` that names it says, else its setting. A SpecError lists
    what is wrong in all of these files at once, that of the spec first.
    """
    if other := kind_problem(source.data, SPEC_KIND):
        raise SpecError(source.file, [source.place(other)])
    from_files: list[Given] = [one for file in values for one in file.given]
    filled = fill(source.data, [*from_files, *(Setting(*one) for one in settings.items())])
    enclosed = enclose(filled.data, Path(source.file).parent)
    document = overlay(enclosed.data, source, profile)
    spec, built = _build(document.data)
    refused = source.refused()
    found = [one for one in filled.problems if one.file or not below(one.path, refused)]
    found += enclosed.problems
    found += [one for one in built if not follows(one.path, refused | filled.spoilt)]
    problems = [*source.problems, *(one for file in values for one in file.problems)]
    problems += _placed(found, document, profile)
    if spec is None or problems:
        in_order = sorted(problems, key=lambda one: (one.file != source.file, one.file, one.line, one.column))
        raise SpecError(source.file, in_order)
    return Resolved(spec, document)


def _placed(found: Sequence[Problem], document: Overlaid, profile: Profile | None) -> list[Problem]:
    """`found` at its places, and what is wrong with the profile in itself: all that is said of its file, then."""
    broken = profile.problems if profile else ()
    placed = [one if one.file else document.place(one) for one in found]
    return [*broken, *(one for one in placed if not (profile and broken and one.file == profile.source.file))]


def spec_from_data(data: Any, file: str) -> ChaosSpec:
    """The spec in data that is resolved already, such as the content of spec.json; `file` names it in a SpecError."""
    spec, problems = _build(data)
    if spec is None or problems:
        raise SpecError(file, problems)
    return spec


def _build(data: Any) -> tuple[ChaosSpec | None, list[Problem]]:
    if not isinstance(data, dict):
        return None, [Problem((), f"read {yaml_type(data)}; {SPEC.shape}")]
    load_kinds()
    problems: list[Problem] = []
    read: dict[DataPath, BaseModel] = {}
    valid: dict[DataPath, BaseModel] = {}
    for path, items, item in _listed(data):
        found, refused = _item(items, item, path)
        problems += refused
        # A broken item is reported by now; something must stand in its place while the rest is validated.
        read[path] = found or items.base.model_construct()
        if found:
            valid[path] = found
    spec, rest = validate(ChaosSpec, _with(data, read, ()))
    broken = read.keys() - valid.keys()
    problems += [one for one in rest if not below(one.path, broken)]
    return spec, problems + check(Draft(data, valid, whole=not problems))


def _listed(data: Any) -> Iterator[tuple[DataPath, _Items, Any]]:
    for path, items in _LISTS.items():
        listed = value_at(data, path)
        for index, item in enumerate(listed if isinstance(listed, (list, tuple)) else ()):
            yield (*path, index), items, item


def _item(items: _Items, item: Any, path: DataPath) -> tuple[BaseModel | None, list[Problem]]:
    return validate(items.base, item, path) if items.kinds is None else validate_kind(items.kinds, item, path)


def _with(data: Any, valid: Mapping[DataPath, BaseModel], path: DataPath) -> Any:
    """`data` with every item that is valid in place of what it was read from."""
    if path in valid:
        return valid[path]
    if isinstance(data, dict):
        return {key: _with(value, valid, (*path, key)) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_with(value, valid, (*path, index)) for index, value in enumerate(data)]
    return data
