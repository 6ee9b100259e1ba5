"""A spec from its file, checked as far as it can be without running it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from chaosgate.errors import Problem, SpecError
from chaosgate.model.load import load_spec
from chaosgate.model.source import read_source
from chaosgate.model.spec import ChaosSpec
from chaosgate.planner import plan_problems


def load(
    path: Path, settings: Mapping[str, str], unsupported: Callable[[ChaosSpec], Iterable[Problem]] | None = None
) -> ChaosSpec:
    """The spec at `path`, which has a plan; a SpecError places every problem in the file.

    `unsupported` says what the carrier that is to run it cannot do.
    """
    spec = load_spec(path, settings)
    problems = [*plan_problems(spec), *(unsupported(spec) if unsupported else ())]
    if problems:
        source = read_source(path)
        marks = [(problem, source.locate(problem.path)) for problem in problems]
        raise SpecError(str(path), [replace(one, line=mark.line, column=mark.column) for one, mark in marks])
    return spec
