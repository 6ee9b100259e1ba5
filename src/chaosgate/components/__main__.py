"""Run one component: `python -m chaosgate.components NAME --run ID [--state DIR] ...`.

Every component but gate and cleanup exits 0 once it ran and writes how it ended as data; only a crash exits otherwise.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from chaosgate.artifacts import STATUS, Identity, write_document
from chaosgate.components.definition import COMPONENTS, Component, Context
from chaosgate.components.places import spec_digest
from chaosgate.errors import ChaosgateError, UsageError
from chaosgate.model.result import Status
from chaosgate.registry import unknown


def main(argv: Sequence[str]) -> int:
    """The exit code of the component named by `argv[0]`; an error that leaves no status goes to standard error."""
    name = argv[0] if argv else ""
    try:
        return run_component(name, argv[1:])
    except ChaosgateError as error:
        print(f"{name or 'chaosgate.components'}: {error}", file=sys.stderr)
        return error.exit_code


def run_component(name: str, argv: Sequence[str]) -> int:
    """Run it, and write how it ended where it has a status."""
    if name not in COMPONENTS:
        raise UsageError(unknown("component", name, COMPONENTS))
    component = COMPONENTS[name]
    context = parse(component, argv)
    module = importlib.import_module(f"chaosgate.components.{component.name}")
    if "status" not in context.outputs:
        return int(module.run(context))
    status = attempt(module.run, context)
    if status.reason:
        print(f"{component.name}: {status.status}: {status.reason}", file=sys.stderr)
    identity = Identity(context.run, spec_digest(context.input("spec")))
    write_document(context.outputs["status"], STATUS, identity, status)
    return 0


def attempt(run: Callable[[Context], Status], context: Context) -> Status:
    """How the component ended; an error a user can mend becomes `failed` with its text."""
    try:
        return run(context)
    except ChaosgateError as error:
        return Status(status="failed", reason=str(error))


def parse(component: Component, argv: Sequence[str]) -> Context:
    """The context from the flags that `Component.argv` wrote."""
    parser = argparse.ArgumentParser(prog=f"chaosgate.components {component.name}", description=component.summary)
    parser.add_argument("--run", required=True)
    parser.add_argument("--state", type=Path)
    for name in component.arguments:
        parser.add_argument(f"--{name}", required=True)
    for port in component.inputs:
        parser.add_argument(f"--{port.name}", action="append", default=[], metavar="STEP=PATH")
    for port in component.outputs:
        parser.add_argument(f"--{port.name}-out", type=Path, required=True)
    words = vars(parser.parse_args(argv))
    return Context(
        run=words["run"],
        state=words["state"],
        arguments={name: words[name] for name in component.arguments},
        inputs={port.name: dict(map(_step_and_path, words[port.name])) for port in component.inputs},
        outputs={port.name: words[f"{port.name}_out"] for port in component.outputs},
    )


def _step_and_path(text: str) -> tuple[str, Path]:
    step, _, path = text.partition("=")
    return step, Path(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
