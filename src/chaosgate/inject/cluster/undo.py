"""Undo whatever the faults of a run changed, found by the run id, and prove it by reading back. May be repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from chaosgate.cluster.api import Cluster, Missing
from chaosgate.cluster.names import FAULT_ROLE, hit_selector, selector
from chaosgate.errors import ClusterError
from chaosgate.inject.cluster import limits, nodes, policy, replicas
from chaosgate.inject.cluster.notes import Note, note_on
from chaosgate.inject.cluster.scene import once_more
from chaosgate.model.fault import ClusterFault

Json = dict[str, Any]
Step = Callable[[Cluster, Json, Note], str | None]

CHANGED = {"pods": "Pod", "deployments": "Deployment", "nodes": "Node", "networkpolicies": "NetworkPolicy"}
"""The resources that faults change for a while, by the kinds of their objects."""
CHANGING = ("patch", "create")
"""Verbs that leave something behind which must be undone."""


@dataclass(frozen=True, order=True)
class Place:
    """Where something of a run may have to be undone. The namespace of a node is empty."""

    kind: str
    namespace: str


def places_of(faults: Iterable[ClusterFault], home: str) -> tuple[Place, ...]:
    """Where `faults` may have changed anything, by what they need to be allowed; `home` is their target's namespace."""
    found = {
        Place(CHANGED[need.resource], (fault.target.namespace or home) if need.namespaced else "")
        for fault in faults
        for need in fault.permissions()
        if need.resource in CHANGED and set(CHANGING) & set(need.verbs)
    }
    # A policy goes before the pods that it is about are let go.
    return tuple(sorted(found))


def undo(cluster: Cluster, run: str, places: Iterable[Place]) -> tuple[list[str], list[str]]:
    """Restore what stands in `places`, each a sentence: what was done, and what is left or could not be looked at.

    A change that somebody else has made since is left alone.
    """
    done: list[str] = []
    left: list[str] = []
    for place in places:
        try:
            done += _undo(cluster, run, place)
            left += [f"{place.kind} {name} is still changed by a fault" for name in found(cluster, run, place)]
        except ClusterError as error:
            left.append(str(error))
    return done, left


def _undo(cluster: Cluster, run: str, place: Place) -> Iterator[str]:
    if place.kind == "NetworkPolicy":
        yield from policy.lift(cluster, run, place.namespace)
        return
    names = found(cluster, run, place)
    # Kubelets take their time to change a limit: all are asked before the first is waited for.
    for step in (_begin, _restore):
        for name in names:
            said = once_more(partial(_on_one, cluster, run, place, name, step))
            if said is not None:
                yield said


def found(cluster: Cluster, run: str, place: Place) -> list[str]:
    """The names of what a fault of the run has changed and not restored, sorted."""
    chosen = selector(run, FAULT_ROLE) if place.kind == "NetworkPolicy" else hit_selector(run)
    return sorted(str(one["metadata"]["name"]) for one in cluster.select(place.kind, chosen, place.namespace or None))


def _on_one(cluster: Cluster, run: str, place: Place, name: str, step: Step) -> str | None:
    """What `step` says of one object as it is now; None when it is gone, or somebody else has restored it."""
    thing = cluster.get(place.kind, name, place.namespace or None)
    note = None if thing is None else note_on(thing)
    if thing is None or note is None or note.run != run:
        return None
    try:
        return step(cluster, thing, note)
    except Missing:
        if cluster.get(place.kind, name, place.namespace or None) is None:
            return f"{place.kind} {name} is gone"
        raise


def _begin(cluster: Cluster, thing: Json, note: Note) -> None:
    """Ask for what takes time."""
    if note.change == "limit":
        limits.give_back(cluster, thing, note)


def _restore(cluster: Cluster, thing: Json, note: Note) -> str:
    match note.change:
        case "limit":
            return limits.restore(cluster, thing, note)
        case "scale":
            return replicas.restore(cluster, thing, note)
        case "block":
            return policy.restore(cluster, thing)
        case _:
            return nodes.restore(cluster, thing, note)
