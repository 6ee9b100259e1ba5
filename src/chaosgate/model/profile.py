"""Chaos profiles: what differs from a spec in one environment, and how a cluster carries the plan there.

A profile is laid over a spec's target, tracking, safety and metrics as RFC 7396 (JSON Merge Patch) says: key by key,
and null removes a key. It never touches faults, workload or objectives: what is asked is the same in every environment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from chaosgate.errors import Problem, SpecError
from chaosgate.model.annotations import keys_of, of_field, strip
from chaosgate.model.base import Frozen, Name
from chaosgate.model.carrier import Carrier
from chaosgate.model.check import STOP_LIST, Draft, check
from chaosgate.model.gauges import Metrics
from chaosgate.model.safety import Safety, StopCondition
from chaosgate.model.source import (
    PROFILE,
    PROFILE_KIND,
    DataPath,
    Source,
    below,
    follows,
    kind_problem,
    read_source,
    yaml_type,
)
from chaosgate.model.spec import SpecBody, Target, Tracking
from chaosgate.model.uri import has_password
from chaosgate.model.validation import validate, value_at

OVERRIDES: Mapping[str, type[Frozen]] = {
    "target": Target,
    "tracking": Tracking,
    "safety": Safety,
    "metrics": Metrics,
}
"""What of a spec a profile may change."""
CARRIER = ("spec", "carrier")


class ProfileMetadata(Frozen):
    """Which environment it is."""

    name: Name


class ProfileBody(Frozen):
    """What differs from a spec. The keys target, tracking, safety and metrics are a spec's, see `profile_model`."""

    carrier: Carrier = Carrier()


class ChaosProfile(Frozen):
    """What differs from a spec in one environment, and how a cluster carries the plan there."""

    api_version: Literal["chaosgate/v1"]
    kind: Literal["ChaosProfile"]
    metadata: ProfileMetadata
    spec: ProfileBody


def _override(model: type[BaseModel]) -> type[BaseModel]:
    """`model` as a profile may write it: every key may be left out, and null removes it."""
    fields = {name: _field(of_field(known) | None, known.description) for name, known in model.model_fields.items()}
    return create_model(f"{model.__name__}Override", __base__=Frozen, __doc__=model.__doc__, **fields)


def _field(annotation: Any, description: str | None) -> Any:
    """A field for `create_model`. It has no default that a schema could show: left out, the spec's value stands."""
    return annotation, Field(None, description=description, json_schema_extra=_without_default)


def _without_default(shown: dict[str, Any]) -> None:
    del shown["default"]


@cache
def profile_model() -> type[ChaosProfile]:
    """The form of a profile, with what it may hold of a spec; made when it is first needed, which few commands do."""
    # A section may be empty but not null: that is what is left of one whose keys are all commented out.
    sections = {key: _field(_override(model), model.__doc__) for key, model in OVERRIDES.items()}
    body = create_model("ProfileBody", __base__=ProfileBody, __doc__="What differs from a spec.", **sections)
    return create_model("ChaosProfile", __base__=ChaosProfile, __doc__=ChaosProfile.__doc__, spec=(body, ...))


@dataclass(frozen=True)
class Profile:
    """A profile as it was read; with `problems` it is refused, together with the spec that it was to change."""

    source: Source
    carrier: Carrier
    problems: tuple[Problem, ...]

    @property
    def name(self) -> str:
        """The environment's name."""
        return str(value_at(self.source.data, ("metadata", "name")))


def read_profile(path: Path) -> Profile:
    """The profile at `path`. A SpecError says why it cannot be read or is none."""
    return profile_of(read_source(path, PROFILE))


def profile_of(source: Source) -> Profile:
    """The profile that `source` holds, with everything that is wrong in itself; a SpecError for another kind."""
    other = kind_problem(source.data, PROFILE_KIND)
    if other:
        raise SpecError(source.file, [source.place(other)])
    _, found = validate(profile_model(), source.data)
    braces = list(_placeholders(source.data))
    spoilt = source.refused() | {one.path for one in braces}
    problems = [_worded(one) for one in found if not follows(one.path, spoilt)]
    problems += [*braces, *(one for one in _meaning(source.data) if not below(one.path, spoilt))]
    carrier, _ = validate(Carrier, value_at(source.data, CARRIER) or {})
    return Profile(source, carrier or Carrier(), (*source.problems, *map(source.place, problems)))


def _placeholders(data: Any) -> Iterator[Problem]:
    for path, text in _texts(data, ()):
        if "{{" in text:
            yield Problem(path, f"read {yaml_type(text)}; a profile holds plain values: nothing is filled in")


def _texts(data: Any, path: DataPath) -> Iterator[tuple[DataPath, str]]:
    """Every text in `data` with its place."""
    if isinstance(data, (dict, list)):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _texts(value, (*path, key))
    elif isinstance(data, str):
        yield path, data


def _worded(problem: Problem) -> Problem:
    """`problem`, or why a key of a spec has no place in a profile."""
    key = problem.path[-1] if problem.path else ""
    if problem.at_key and problem.path == ("spec", key) and key in keys_of(SpecBody):
        held = ", ".join((*OVERRIDES, CARRIER[-1]))
        return replace(problem, message=f"read {key!r}, which is the same in every environment; a profile holds {held}")
    return problem


def _meaning(data: Any) -> list[Problem]:
    """What the form cannot say: secrets stay out, addresses can be read, SLIs and bounds fit."""
    hint = "a password stands in the profile; name a Secret under spec.carrier.secrets instead"
    secrets = [Problem(path, hint) for path, text in _texts(value_at(data, CARRIER), CARRIER) if has_password(text)]
    conditions = value_at(data, STOP_LIST)
    read = [validate(StopCondition, one)[0] for one in conditions] if isinstance(conditions, list) else []
    valid = {(*STOP_LIST, index): one for index, one in enumerate(read) if one}
    return [*secrets, *check(Draft({"spec": _sections(data)}, valid, whole=False, noun=PROFILE.noun))]


def _sections(data: Any) -> dict[str, Any]:
    body = value_at(data, ("spec",))
    return {key: body[key] for key in OVERRIDES if body.get(key) is not None} if isinstance(body, dict) else {}


@dataclass(frozen=True)
class Overlaid:
    """A spec's data with a profile laid over it, and which of the two files each place of it belongs to."""

    data: Any
    spec: Source
    profile: Source | None = None
    mixed: frozenset[DataPath] = frozenset()
    """Mappings in which both have keys."""
    replaced: frozenset[DataPath] = frozenset()
    """What the profile wrote or removed as a whole."""

    def place(self, problem: Problem) -> Problem:
        """`problem` at the place that was written last: of a value the profile's, of a missing key the spec's."""
        if self.profile and (problem.path in self.mixed or below(problem.path, self.replaced)):
            return self.profile.place(problem)
        return self.spec.place(problem)


def overlay(data: Any, spec: Source, profile: Profile | None) -> Overlaid:
    """`data`, which was read from `spec` and filled in, with the target, tracking and safety of `profile`."""
    body = value_at(data, ("spec",))
    if profile is None or not isinstance(body, dict):
        return Overlaid(data, spec)
    laid = _Overlay()
    merged = {**data, "spec": laid.merge(body, _sections(profile.source.data), SpecBody, ("spec",))}
    return Overlaid(merged, spec, profile.source, frozenset(laid.mixed), frozenset(laid.replaced))


@dataclass
class _Overlay:
    mixed: set[DataPath] = field(default_factory=set)
    replaced: set[DataPath] = field(default_factory=set)

    def merge(
        self, base: dict[str, Any], over: Mapping[str, Any], model: type[BaseModel], path: DataPath
    ) -> dict[str, Any]:
        """`base` with the keys of `over`. A mapping of one form is merged in its turn, any other value replaced."""
        merged = dict(base)
        for key, value in over.items():
            where = (*path, key)
            inner = _one_form(model, key)
            if value is None:
                self.replaced.add(where)
                merged.pop(key, None)
            elif inner and isinstance(value, dict):
                under = merged.get(key)
                (self.mixed if isinstance(under, dict) else self.replaced).add(where)
                merged[key] = self.merge(under if isinstance(under, dict) else {}, value, inner, where)
            else:
                self.replaced.add(where)
                merged[key] = value
        return merged


def _one_form(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    """The model of the mapping at `key`, None where none stands there or it has several forms, as `fallback` has."""
    known = keys_of(model).get(key)
    inner = strip(of_field(known)) if known else None
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
