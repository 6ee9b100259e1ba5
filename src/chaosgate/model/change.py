"""What a fault of the cluster does, as plain data: the pods it may hit, each change to an object, and what that takes.

`chaosgate.inject.cluster` carries the changes out; here is nothing that knows a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from chaosgate.draws import Draw

Resource = Literal["cpu", "memory"]
TaintEffect = Literal["NoSchedule", "NoExecute"]
Signal = Literal["TERM", "INT", "QUIT"]


class Permission(NamedTuple):
    """What an account must be allowed: verbs on a resource of an API group, in the target's namespace or everywhere."""

    group: str
    """Empty for the core group."""
    resource: str
    """The plural, with a subresource behind a slash: `pods/resize`."""
    verbs: tuple[str, ...]
    namespaced: bool = True


@dataclass(frozen=True)
class TargetPod:
    """A pod that a fault may hit, and what its changes need to know of it."""

    name: str
    uid: str
    container: str
    """The container a fault of one container means."""
    node: str | None = None
    deployment: str | None = None
    """The Deployment it belongs to, None where it belongs to none."""
    limits: Mapping[Resource, float] = field(default_factory=dict)
    """The container's limits as the spec of the pod has them, in cores and bytes; what has no limit is absent."""
    requests: Mapping[Resource, float] = field(default_factory=dict)


@dataclass(frozen=True)
class DeletePod:
    """Delete one pod; whoever owns it makes another."""

    pod: str
    uid: str
    grace: int | None
    """Seconds it may take to end, None for what the pod itself says."""


@dataclass(frozen=True)
class KillContainer:
    """Send `signal` to the main process of a container; the kubelet starts it again."""

    pod: str
    uid: str
    container: str
    signal: Signal


@dataclass(frozen=True)
class SetLimit:
    """Change a limit of a running container, in cores or bytes; a request above it comes down with it."""

    pod: str
    uid: str
    container: str
    resource: Resource
    limit: float


@dataclass(frozen=True)
class Scale:
    """Take replicas from a Deployment."""

    deployment: str
    fewer: int


@dataclass(frozen=True)
class Taint:
    """Put a taint of this run on a node."""

    node: str
    effect: TaintEffect


@dataclass(frozen=True)
class Cordon:
    """Let a node take no new pods."""

    node: str


@dataclass(frozen=True)
class BlockIngress:
    """Let no packet of the run's gateway into these pods, by a NetworkPolicy."""

    pods: tuple[str, ...]


Change = DeletePod | KillContainer | SetLimit | Scale | Taint | Cordon | BlockIngress


def drawn(names: Sequence[str], draw: Draw) -> list[str]:
    """`names` in the order in which they are hit: a fault at a larger dose hits those it hits at a smaller one, too.

    A pure function of the seed, the fault, the window and how many there are: names of pods differ from run to run, so
    their places in sorted order are drawn, not they themselves.
    """
    places = {name: draw.at(f"place {index}") for index, name in enumerate(sorted(names))}
    return sorted(places, key=places.__getitem__)
