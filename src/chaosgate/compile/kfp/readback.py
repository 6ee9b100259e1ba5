"""From a package back to its plan: what Kubeflow Pipelines will run, read off its tasks, arguments and dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chaosgate.compile.kfp.components import RUN
from chaosgate.compile.kfp.package import ROOT, Package, Task, foreign, read_documents
from chaosgate.components.executor_output import FLAG
from chaosgate.model.plan import Plan, Step, StepInput

RUNNER = ("-m", "chaosgate.components")
"""What the interpreter is told to run; then come the component's name and its flags, each with a value."""
VALUE = re.compile(r"(?:(?P<step>[^={}]+)=)?\{\{\$\.(?P<what>[a-z]+\.[a-z]+)\['(?P<name>[^']+)'\](?:\.path)?\}\}")
"""The value of a flag: a placeholder, behind the name of a step at a port that takes many."""
OUT = "-out"
"""How the flag of an output ends."""
CARRIED = (f"--{RUN}", FLAG)
"""Flags that the carrier adds, which are no part of a step."""


def read_kfp(text: str) -> Plan:
    """The plan that the package `text` runs, its steps in the order of the text.

    Comments, labels and whatever else the platform adds say nothing to it, but for the deadlines. A UsageError
    names what is not chaosgate's.
    """
    package = Package(read_documents(text))
    reader = _Reader(package)
    last = [task for task in package.containers if task.on_exit]
    if len(last) != 1:
        raise foreign(f"it has {len(last)} exit tasks, not one")
    steps = tuple(reader.step(task) for task in package.containers if task.dag != ROOT)
    return Plan(name=package.name, steps=steps, finally_=reader.step(last[0]))


class _Reader:
    """Reads tasks as steps; what an output is called within a component stands in that component's command line."""

    def __init__(self, package: Package) -> None:
        self.importers = {task.name for task in package.tasks if task.is_importer}
        self.outputs = {
            (task.name, match["name"]): flag.removesuffix(OUT)
            for task in package.containers
            for flag, match in _flags(task)
            if match["what"] == "outputs.artifacts"
        }

    def step(self, task: Task) -> Step:
        """The step that `task` runs."""
        arguments: dict[str, str] = {}
        inputs: list[StepInput] = []
        for flag, match in _flags(task):
            if match["what"] == "inputs.parameters":
                arguments[flag] = _argument(task, match["name"])
            elif match["what"] == "inputs.artifacts":
                inputs += self.input(task, flag, match)
        return Step(
            id=task.name,
            component=_component(task),
            arguments=arguments,
            inputs=tuple(inputs),
            deadline=float(task.settings.get("activeDeadlineSeconds", 0)),
        )

    def input(self, task: Task, port: str, match: re.Match[str]) -> list[StepInput]:
        """What `port` reads: nothing where the carrier hands it over, as it does the spec."""
        producer, output = task.source(match["name"])
        if producer in self.importers:
            return []
        if (producer, output) not in self.outputs or match["step"] not in (None, producer):
            raise foreign(f"task {task.name} reads {match[0]} from {output!r} of {producer or 'no task'}")
        return [StepInput(port=port, step=producer, output=self.outputs[producer, output])]


def _component(task: Task) -> str:
    if tuple(task.words[1:3]) != RUNNER or len(task.words) < 4:
        raise foreign(f"task {task.name} runs {' '.join(task.words[:4])!r}")
    return task.words[3]


def _flags(task: Task) -> Iterator[tuple[str, re.Match[str]]]:
    """Each flag without its dashes, and the placeholder that it is given."""
    words = task.words[4:]
    for flag, value in zip(words[::2], words[1::2], strict=False):
        match = VALUE.fullmatch(value)
        if flag in CARRIED:
            continue
        if match is None or not flag.startswith("--"):
            raise foreign(f"task {task.name} has {flag} {value} in its command line")
        yield flag.removeprefix("--"), match


def _argument(task: Task, parameter: str) -> str:
    value = task.constant(parameter)
    if not isinstance(value, str):
        raise foreign(f"task {task.name} has no constant text as its parameter {parameter}")
    return value
