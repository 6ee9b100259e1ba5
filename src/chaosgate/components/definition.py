"""What each component is: its name, its ports and its arguments, defined once for every carrier.

A stranger's component is a `Component` of its own that a plug-in module hands to `register`.
"""

from __future__ import annotations

import importlib
import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaosgate.artifacts import ARTIFACTS
from chaosgate.errors import RegistryError, UsageError
from chaosgate.model.base import NAME_PATTERN
from chaosgate.model.carrier import QUANTITY
from chaosgate.registry import load_kinds, unknown

EXECUTOR_INPUT = "executor-input"
CARRIER_FLAGS = ("run", "state", EXECUTOR_INPUT)
"""What a carrier tells every component besides its arguments and files, each as a flag."""
_ARGUMENT = re.compile(r"[a-z][a-z0-9-]*")
_ENTRY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True)
class Port:
    """One file a component reads or writes; `many`: an input port that takes one from each step that writes it."""

    name: str
    many: bool = False

    @property
    def artifact(self) -> str:
        """The kind of artifact; a port is named after it."""
        return self.name

    @property
    def file(self) -> str:
        """The file's name."""
        return ARTIFACTS[self.artifact].file


@dataclass(frozen=True)
class Requests:
    """What a cluster sets aside for a component, as Kubernetes quantities."""

    cpu: str
    memory: str


@dataclass(frozen=True)
class Component:
    """One kind of step: `python -m chaosgate.components NAME` with a flag for each argument and port."""

    name: str
    summary: str
    entry: str
    """`module:function`; the function takes a `Context`. It returns its `Status` where the component has such an
    output, else an exit code."""
    arguments: tuple[str, ...] = ()
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    requests: Requests = Requests(cpu="50m", memory="192Mi")
    kubernetes: bool = False
    """Whether it reads or changes objects of a cluster; no other component's container gets the account's token."""

    def function(self) -> Callable[[Context], Any]:
        """What runs the component."""
        module, _, name = self.entry.partition(":")
        found: Callable[[Context], Any] = getattr(importlib.import_module(module), name)
        return found

    def argv(
        self,
        carrier: Sequence[str],
        arguments: Mapping[str, str],
        inputs: Sequence[tuple[str, str, str]],
        outputs: Mapping[str, str],
    ) -> list[str]:
        """The command line without the interpreter.

        `carrier`: what the carrier adds (`--run`, `--state`); `inputs`: (port, step, path) each; `outputs`: port to
        path.
        """
        many = {port.name for port in self.inputs if port.many}
        words = ["-m", "chaosgate.components", self.name, *carrier]
        for name in self.arguments:
            words += [f"--{name}", arguments[name]]
        for port, step, path in inputs:
            words += [f"--{port}", f"{step}={path}" if port in many else path]
        for port, path in outputs.items():
            words += [f"--{port}-out", path]
        return words


@dataclass(frozen=True)
class Context:
    """What a component is given when it runs."""

    run: str
    """The run id."""
    state: Path | None
    """The state directory of a local run; None on a cluster."""
    arguments: Mapping[str, str]
    inputs: Mapping[str, Path]
    """Port to path."""
    outputs: Mapping[str, Path]
    """Port to path."""
    gathered: Mapping[str, Mapping[str, Path]] = field(default_factory=dict)
    """Port to {step: path}, for the input ports that take many."""
    executor_input: str | None = None
    """What Kubeflow Pipelines tells a step about itself, as JSON; None elsewhere."""


def ports(*names: str, many: bool = False) -> tuple[Port, ...]:
    """A port for each name."""
    return tuple(Port(name, many) for name in names)


def _built_in(name: str, summary: str, **more: Any) -> Component:
    return Component(name, summary, f"chaosgate.components.{name}:run", **more)


COMPONENTS: dict[str, Component] = {
    component.name: component
    for component in (
        _built_in(
            "deploy",
            "start or find the target, put its gateway in front, arm the sweeper, open the record",
            arguments=("digest", "seconds"),
            inputs=ports("spec"),
            outputs=ports("endpoint", "record", "status"),
            kubernetes=True,
        ),
        _built_in(
            "measure",
            "send the workload of one phase and keep what client, gateway and engine saw",
            arguments=("phase", "seconds"),
            inputs=ports("spec", "endpoint", "status"),
            outputs=ports("observations", "ledger", "timeline", "gauges", "status"),
            requests=Requests(cpu="250m", memory="384Mi"),
            kubernetes=True,
        ),
        _built_in(
            "inject",
            "run the sweep of one block, or decline when the steady state does not hold",
            arguments=("phase", "start"),
            inputs=ports("spec", "endpoint", "observations", "ledger", "timeline", "status"),
            outputs=ports("injection", "status"),
            kubernetes=True,
        ),
        _built_in(
            "conclude",
            "estimate, fit and judge, then report and record",
            inputs=(
                *ports("spec", "endpoint", "record"),
                *ports("observations", "ledger", "timeline", "gauges", "injection", "status", many=True),
            ),
            outputs=ports("estimates", "fit", "verdict", "record", "report", "summary", "recording", "status"),
            requests=Requests(cpu="250m", memory="512Mi"),
        ),
        _built_in("gate", "answer with the verdict's exit code", inputs=ports("verdict")),
        _built_in(
            "cleanup",
            "revert and stop whatever the run left, then seal it",
            outputs=ports("cleanup"),
            kubernetes=True,
        ),
    )
}
"""The built-in components by name. Plug-ins add theirs with `register`; `find_component` knows them all."""

BUILT_IN: frozenset[str] = frozenset(COMPONENTS)


def register(component: Component) -> None:
    """Make a stranger's component known; a RegistryError when its name is taken, or when no carrier could run it."""
    if not isinstance(component, Component):
        raise RegistryError(f"read {component!r}; register takes a Component")
    taken = COMPONENTS.get(component.name, component)
    if taken != component:
        raise RegistryError(
            f"component {component.name!r} is registered twice: by {taken.entry} and by {component.entry}; rename one"
        )
    check_definition(component)
    COMPONENTS[component.name] = component


def check_definition(component: Component) -> None:
    """A RegistryError for the first thing by which a carrier could not run it: a name, a flag, a port, a quantity."""
    for problem in _problems(component):
        raise RegistryError(f"component {component.name!r}: {problem}")


def _problems(component: Component) -> Iterator[str]:
    if not re.fullmatch(NAME_PATTERN, component.name.replace(".", "-")):
        yield "names a step, so it must be small letters, digits, dashes and dots, at most 63 of them"
    if component.summary != component.summary.strip() or len(component.summary.splitlines()) != 1:
        yield f"has the summary {component.summary!r}; say in one line what it does"
    for port in (*component.inputs, *component.outputs):
        if port.artifact not in ARTIFACTS:
            yield unknown("port", port.name, ARTIFACTS)
    yield from _flag_problems(component)
    for what, quantity in (("cpu", component.requests.cpu), ("memory", component.requests.memory)):
        if not re.fullmatch(QUANTITY, quantity):
            yield f"asks for {what} {quantity!r}; write a Kubernetes quantity such as 250m or 512Mi"
    if not _ENTRY.fullmatch(component.entry):
        yield f"its entry {component.entry!r} leads nowhere; write module:function"


def _flag_problems(component: Component) -> Iterator[str]:
    for name in component.arguments:
        if not _ARGUMENT.fullmatch(name):
            yield f"has the argument {name!r}; write small letters, digits and dashes, without the leading --"
        elif keyword.iskeyword(name):
            yield f"has the argument {name!r}, a word of Python, which Kubeflow Pipelines cannot carry; rename it"
    inputs, outputs = ([port.name for port in ports] for ports in (component.inputs, component.outputs))
    flags = ["help", *CARRIER_FLAGS, *component.arguments, *inputs, *(f"{name}-out" for name in outputs)]
    doubles = sorted({flag for flag in flags if flags.count(flag) > 1})
    if doubles:
        yield f"has the flag --{', --'.join(doubles)} twice; every flag needs a name of its own"


def find_component(name: str, known: Iterable[str] = ()) -> Component:
    """The component called `name`, a plug-in's too; a UsageError names the nearest one."""
    if name not in COMPONENTS:
        load_kinds()
    if name not in COMPONENTS:
        raise UsageError(unknown("component", name, known or COMPONENTS))
    return COMPONENTS[name]
