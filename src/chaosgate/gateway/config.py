"""What a gateway is told when it starts: the server behind it, the run it serves and the faults it may apply."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, SerializeAsAny, field_validator, model_validator

from chaosgate.gateway.deadlines import Timeouts
from chaosgate.gateway.identity import ANONYMOUS
from chaosgate.gateway.noise import PREFIX
from chaosgate.gateway.tls import UpstreamTls
from chaosgate.model.base import Frozen, Name, read_model
from chaosgate.model.fault import Fault, fault_of
from chaosgate.model.filter import Filter, filter_of
from chaosgate.model.uri import without_password
from chaosgate.registry import unknown

_BASE_URL = re.compile(r"https?://[^\s/?#]+[^\s?#]*")
_PATH = re.compile(r"/[^\s#]*")


def _base_url(text: str) -> str:
    if not _BASE_URL.fullmatch(text):
        raise ValueError(f"read {without_password(text)!r}; write a base URL, such as http://127.0.0.1:8000")
    base = text.rstrip("/")
    if base.endswith("/v1"):
        # Clients send it: with both, every request would ask for /v1/v1.
        shown = without_password(base)
        raise ValueError(f"read {shown!r}; write the base URL, without /v1: {shown.removesuffix('/v1')}")
    return text


def _path(text: str) -> str:
    if not _PATH.fullmatch(text):
        raise ValueError(f"read {text!r}; write a path, such as /health")
    return text


BaseUrl = Annotated[str, AfterValidator(_base_url)]
"""Where a server is, without a query."""


class GatewayConfig(Frozen):
    """The gateway's part of a run, resolved: no parameters are left to fill in."""

    upstream: BaseUrl
    """Base URL of the server behind the gateway; request paths are appended to it."""
    replicas: tuple[BaseUrl, ...] = ()
    """Further servers that answer as well as `upstream`; requests go to all in turn."""
    health_path: Annotated[str, AfterValidator(_path)] | None = None
    """Where each server says that it is well, such as `/health`; None does not ask."""
    tls: UpstreamTls = UpstreamTls()
    timeouts: Timeouts = Timeouts()
    run: str
    """The run's id."""
    spec: str
    """The digest of the run's spec."""
    seed: int
    """The seed of every draw; request ids begin with it."""
    phases: dict[Name, tuple[Name, ...]]
    """Every phase of the run with the faults that may touch its requests."""
    faults: tuple[SerializeAsAny[Fault], ...]
    filters: tuple[SerializeAsAny[Filter], ...] = ()
    """What guards the server, behind the faults, in this order."""
    unguarded: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The share of requests that pass no filter, as a fraction."""
    variants: dict[Name, BaseUrl] = {}
    """Base URLs of further servers, each for the requests whose baggage `llm.mesh.gray` has its name."""
    noise: bool = False
    """Whether requests may bring faults of their own in the baggage `llm.mesh.noise`. Never in a run."""
    unnamed: tuple[Name, ...] = ()
    """The faults that may touch requests without an id, which belong to no phase. A run has none."""

    @field_validator("faults", mode="before")
    @classmethod
    def _of_their_kinds(cls, value: Any) -> Any:
        return tuple(fault_of(item) for item in value) if isinstance(value, list | tuple) else value

    @field_validator("filters", mode="before")
    @classmethod
    def _filters_of_their_kinds(cls, value: Any) -> Any:
        return tuple(filter_of(item) for item in value) if isinstance(value, list | tuple) else value

    @model_validator(mode="after")
    def _names_fit(self) -> GatewayConfig:
        names = [fault.name for fault in self.faults]
        if double := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two faults are called {double!r}; rename one")
        if self.noise and (taken := next((name for name in names if name.startswith(PREFIX)), None)):
            raise ValueError(f"a fault is called {taken!r}; with `noise` such names are those of requests: rename it")
        if ANONYMOUS in self.phases:
            raise ValueError(f"a phase is called {ANONYMOUS!r}, which means requests without a name; rename it")
        for phase, faults in (*self.phases.items(), (ANONYMOUS, self.unnamed)):
            if stray := next((name for name in faults if name not in names), None):
                raise ValueError(f"phase {phase!r}: {unknown('fault', stray, names)}")
        return self

    def faults_of(self, phase: str) -> tuple[Fault, ...]:
        """The faults of `phase` in the order of `faults`, which is the order in which they act on a request."""
        declared = self.unnamed if phase == ANONYMOUS else self.phases.get(phase, ())
        return tuple(fault for fault in self.faults if fault.name in declared)


def load_config(path: Path) -> GatewayConfig:
    """The configuration in the JSON file `path`; a UsageError names the file, the key and what is wrong with it."""
    return read_model(path, GatewayConfig)
