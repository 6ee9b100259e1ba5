"""What each component is: its name, its ports and its arguments, defined once for every carrier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chaosgate.artifacts import ARTIFACTS


@dataclass(frozen=True)
class Port:
    """One file a component reads or writes; at an input port, one from each step that writes it."""

    name: str

    @property
    def artifact(self) -> str:
        """The kind of artifact; a port is named after it."""
        return self.name

    @property
    def file(self) -> str:
        """The file's name."""
        return ARTIFACTS[self.artifact].file


@dataclass(frozen=True)
class Component:
    """One kind of step: `python -m chaosgate.components NAME` with a flag for each argument and port."""

    name: str
    summary: str
    arguments: tuple[str, ...] = ()
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()

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
        words = ["-m", "chaosgate.components", self.name, *carrier]
        for name in self.arguments:
            words += [f"--{name}", arguments[name]]
        for port, step, path in inputs:
            words += [f"--{port}", f"{step}={path}"]
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
    inputs: Mapping[str, Mapping[str, Path]]
    """Port to {step: path}."""
    outputs: Mapping[str, Path]
    """Port to path."""

    def input(self, port: str) -> Path:
        """The one file at `port`."""
        return next(iter(self.inputs[port].values()))


def _ports(*names: str) -> tuple[Port, ...]:
    return tuple(map(Port, names))


COMPONENTS: dict[str, Component] = {
    component.name: component
    for component in (
        Component(
            "deploy",
            "start or find the target, put its gateway in front, arm the sweeper, open the record",
            arguments=("seconds",),
            inputs=_ports("spec"),
            outputs=_ports("endpoint", "record", "status"),
        ),
        Component(
            "measure",
            "send the workload of one phase and keep what client, gateway and engine saw",
            arguments=("phase", "seconds"),
            inputs=_ports("spec", "endpoint", "status"),
            outputs=_ports("observations", "ledger", "timeline", "gauges", "status"),
        ),
        Component(
            "inject",
            "run the sweep of one block, or decline when the steady state does not hold",
            arguments=("phase", "start"),
            inputs=_ports("spec", "endpoint", "observations", "ledger", "timeline", "status"),
            outputs=_ports("injection", "status"),
        ),
        Component(
            "conclude",
            "estimate, fit and judge, then report and record",
            inputs=_ports(
                *("spec", "endpoint", "record", "observations", "ledger", "timeline", "gauges", "injection", "status")
            ),
            outputs=_ports("estimates", "fit", "verdict", "record", "report", "recording", "status"),
        ),
        Component("gate", "answer with the verdict's exit code", inputs=_ports("verdict")),
        Component("cleanup", "revert and stop whatever the run left, then seal it", outputs=_ports("cleanup")),
    )
}
