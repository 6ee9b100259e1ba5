"""Specs and profiles from their files, checked as far as they can be without running anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from chaosgate.cli.options import SpecOptions
from chaosgate.components.definition import BUILT_IN, COMPONENTS, Component
from chaosgate.errors import Problem, SpecError
from chaosgate.model.carrier import Carrier, ExtraStep
from chaosgate.model.load import resolve
from chaosgate.model.plan import extra_step_id
from chaosgate.model.profile import CARRIER, Profile, profile_of
from chaosgate.model.source import PROFILE, PROFILE_KIND, DataPath, Source, meant_kind, read_source
from chaosgate.model.spec import ChaosSpec
from chaosgate.model.values import read_values
from chaosgate.planner import plan_problems
from chaosgate.registry import load_kinds, nearest, unknown


@dataclass(frozen=True)
class Loaded:
    """A spec that has a plan, and how a cluster carries it."""

    spec: ChaosSpec
    carrier: Carrier


def load(
    path: Path, options: SpecOptions, unsupported: Callable[[ChaosSpec], Iterable[Problem]] | None = None
) -> Loaded:
    """The spec at `path` as `options` change it; a SpecError places every problem in its file.

    `unsupported` says what the carrier that is to run it cannot do.
    """
    return _load(read_source(path), options, unsupported)


def load_any(path: Path, options: SpecOptions) -> ChaosSpec | Profile:
    """What the file at `path` holds: a spec as `options` change it, or a profile, which stands for itself.

    A SpecError places every problem in its file.
    """
    source = read_source(path)
    if meant_kind(source.data) != PROFILE_KIND:
        return _load(source, options, None).spec
    profile = _checked(profile_of(source))
    if profile.problems:
        raise SpecError(source.file, sorted(profile.problems, key=lambda one: (one.line, one.column)))
    return profile


def _load(source: Source, options: SpecOptions, unsupported: Callable[[ChaosSpec], Iterable[Problem]] | None) -> Loaded:
    profile = _checked(profile_of(read_source(options.profile, PROFILE))) if options.profile else None
    values = [read_values(file) for file in options.values]
    resolved = resolve(source, options.settings, values, profile)
    problems = [*plan_problems(resolved.spec), *(unsupported(resolved.spec) if unsupported else ())]
    if problems:
        raise SpecError(source.file, [resolved.document.place(problem) for problem in problems])
    return Loaded(resolved.spec, profile.carrier if profile else Carrier())


def _checked(profile: Profile) -> Profile:
    """`profile` with what is wrong with the components that its carrier names."""
    problems = map(profile.source.place, carrier_problems(profile.carrier))
    return replace(profile, problems=(*profile.problems, *problems))


def carrier_problems(carrier: Carrier) -> Iterator[Problem]:
    """Components that nobody knows, extra steps that a plan has anyway, and arguments that they do not take.

    The problems have no line; their paths are those of a profile.
    """
    load_kinds()
    for name in carrier.resources:
        if name not in COMPONENTS:
            yield Problem((*CARRIER, "resources", name), unknown("component", name, COMPONENTS), at_key=True)
    for index, step in enumerate(carrier.steps):
        path = (*CARRIER, "steps", index)
        name = extra_step_id(step.component)
        first = [extra_step_id(other.component) for other in carrier.steps].index(name)
        if first != index:
            message = f"{step.component!r} makes a step {name!r}, and so does spec.carrier.steps[{first}]; remove one"
            yield Problem((*path, "component"), message)
        else:
            yield from _step_problems(path, step)


def _step_problems(path: DataPath, step: ExtraStep) -> Iterator[Problem]:
    if step.component in BUILT_IN:
        message = f"read {step.component!r}, which every plan has; an extra step runs a component of a plug-in"
        yield Problem((*path, "component"), message)
    elif step.component not in COMPONENTS:
        message = unknown("component", step.component, COMPONENTS.keys() - BUILT_IN)
        yield Problem((*path, "component"), message)
    else:
        yield from _argument_problems((*path, "arguments"), step, COMPONENTS[step.component])


def _argument_problems(path: DataPath, step: ExtraStep, component: Component) -> Iterator[Problem]:
    strange = [name for name in step.arguments if name not in component.arguments]
    for name in strange:
        message = unknown(f"argument of {component.name!r}", name, component.arguments)
        yield Problem((*path, name), message, at_key=True)
    meant = {nearest(name, component.arguments) for name in strange}
    for name in component.arguments:
        if name not in step.arguments and name not in meant:
            takes = ", ".join(component.arguments)
            yield Problem((*path, name), f"is missing; component {component.name!r} needs {takes}")
