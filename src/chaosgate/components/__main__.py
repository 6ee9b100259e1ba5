"""Run one component: `python -m chaosgate.components NAME --run ID [--state DIR] ...`.

Every component but gate and cleanup exits 0 once it ran and writes how it ended as data; only a crash exits otherwise.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from chaosgate.artifacts import STATUS, Identity, write_document
from chaosgate.artifacts.files import is_written, write_whole
from chaosgate.components import executor_output
from chaosgate.components.definition import Component, Context, find_component
from chaosgate.components.places import spec_digest
from chaosgate.errors import ChaosgateError
from chaosgate.model.plan import step_id
from chaosgate.model.result import Status, StepStatus

STATE_VARIABLE = "CHAOSGATE_STATE"
"""The environment variable that names the state directory where no `--state` does."""


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
    component = find_component(name)
    context = parse(component, argv)
    run = component.function()
    if "status" not in context.outputs:
        return int(run(context))
    status = attempt(run, context)
    if status.reason:
        print(f"{component.name}: {status.status}: {status.reason}", file=sys.stderr)
    write_status(component, context, status)
    leave_empty(context)
    executor_output.write_executor_output(component, context)
    return 0


def write_status(component: Component, context: Context, status: Status) -> None:
    """The status file, which names the step by what the component was given."""
    phase = context.arguments.get("phase")
    step = component.name if phase is None else step_id(phase, component.name)
    identity = Identity(context.run, spec_digest(context.inputs["spec"]) if "spec" in context.inputs else "unknown")
    named = StepStatus(step=step, status=status.status, reason=status.reason)
    write_document(context.outputs["status"], STATUS, identity, named)


def leave_empty(context: Context) -> None:
    """Make an empty file of each output there was nothing to write for: pipelines fail on one that is missing."""
    for path in context.outputs.values():
        if not is_written(path):
            write_whole(path, b"")


def attempt(run: Callable[[Context], Status], context: Context) -> Status:
    """How the component ended; an error a user can mend becomes `failed` with its text."""
    try:
        return run(context)
    except ChaosgateError as error:
        return Status(status="failed", reason=str(error))


def parse(component: Component, argv: Sequence[str]) -> Context:
    """The context from the flags that `Component.argv` wrote."""
    parser = argparse.ArgumentParser(
        prog=f"chaosgate.components {component.name}", description=component.summary, allow_abbrev=False
    )
    parser.add_argument("--run", required=True)
    parser.add_argument("--state", type=Path, default=os.environ.get(STATE_VARIABLE))
    parser.add_argument(executor_output.FLAG)
    for name in component.arguments:
        parser.add_argument(f"--{name}", dest=name, required=True)
    for port in component.inputs:
        if port.many:
            parser.add_argument(f"--{port.name}", action="append", default=[], metavar="STEP=PATH")
        else:
            parser.add_argument(f"--{port.name}", type=Path, required=True)
    for port in component.outputs:
        parser.add_argument(f"--{port.name}-out", type=Path, required=True)
    words = vars(parser.parse_args(list(_joined(component, argv))))
    return Context(
        run=words["run"],
        state=words["state"],
        arguments={name: words[name] for name in component.arguments},
        inputs={port.name: words[port.name] for port in component.inputs if not port.many},
        gathered={port.name: dict(map(_step_and_path, words[port.name])) for port in component.inputs if port.many},
        outputs={port.name: words[f"{port.name}_out"] for port in component.outputs},
        executor_input=words["executor_input"],
    )


def _joined(component: Component, argv: Sequence[str]) -> Iterator[str]:
    """`argv` with each argument's value behind a `=`: argparse would take one that begins with a dash for a flag."""
    flags = {f"--{name}" for name in component.arguments}
    words = iter(argv)
    for word in words:
        value = next(words, None) if word in flags else None
        yield word if value is None else f"{word}={value}"


def _step_and_path(text: str) -> tuple[str, Path]:
    step, _, path = text.partition("=")
    return step, Path(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
