"""What a gateway is told when it starts: the server behind it, the run it serves and the faults it may apply."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, SerializeAsAny, field_validator, model_validator

from chaosgate.gateway.identity import ANONYMOUS
from chaosgate.model.base import Frozen, Name, read_model
from chaosgate.model.fault import Fault, fault_of
from chaosgate.registry import unknown


class GatewayConfig(Frozen):
    """The gateway's part of a run, resolved: no parameters are left to fill in."""

    upstream: Annotated[str, Field(pattern=r"^https?://[^\s/?#]+[^\s?#]*$")]
    """Base URL of the server behind the gateway; request paths are appended to it."""
    run: str
    """The run's id."""
    spec: str
    """The digest of the run's spec."""
    seed: int
    """The seed of every draw; request ids begin with it."""
    phases: dict[Name, tuple[Name, ...]]
    """Every phase of the run with the faults that may touch its requests."""
    faults: tuple[SerializeAsAny[Fault], ...]

    @field_validator("faults", mode="before")
    @classmethod
    def _of_their_kinds(cls, value: Any) -> Any:
        return [fault_of(item) for item in value] if isinstance(value, list | tuple) else value

    @model_validator(mode="after")
    def _names_fit(self) -> GatewayConfig:
        names = [fault.name for fault in self.faults]
        if double := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two faults are called {double!r}; rename one")
        if ANONYMOUS in self.phases:
            raise ValueError(f"a phase is called {ANONYMOUS!r}, which means requests without a name; rename it")
        for phase, faults in self.phases.items():
            if stray := next((name for name in faults if name not in names), None):
                raise ValueError(f"phase {phase!r}: {unknown('fault', stray, names)}")
        return self

    def faults_of(self, phase: str) -> tuple[Fault, ...]:
        """The faults of `phase` in the order of `faults`, which is the order in which they act on a request."""
        declared = self.phases.get(phase, ())
        return tuple(fault for fault in self.faults if fault.name in declared)


def load_config(path: Path) -> GatewayConfig:
    """The configuration in the JSON file `path`; a UsageError names the file, the key and what is wrong with it."""
    return read_model(path, GatewayConfig)
