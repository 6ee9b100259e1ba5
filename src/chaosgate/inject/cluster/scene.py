"""Where a fault acts: the cluster, the run and the fault that a change belongs to, and waiting until it shows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from chaosgate.cluster.api import Cluster, Conflict
from chaosgate.errors import ClusterError
from chaosgate.inject.cluster.notes import Note, note_on

Json = dict[str, Any]
Found = TypeVar("Found")
Proof = Callable[[], int]
"""How many objects a change is shown to have changed, asked once all changes of a window are made."""

ATTEMPTS = 5
"""How often an object is read again because somebody else has just written it."""
POLL = 0.2
"""Seconds between two looks at an object."""
SHOWN_SECONDS = 20.0
"""Seconds until a kubelet must have done and reported what it was asked: it reports once in some seconds."""


@dataclass(frozen=True)
class Scene:
    """One fault of one run on a cluster; `namespace` is where its pods are."""

    cluster: Cluster
    run: str
    fault: str
    namespace: str

    def pod(self, name: str, uid: str) -> Json | None:
        """The pod, None when it is gone; another one of that name is not meant."""
        found = self.cluster.get("Pod", name, self.namespace)
        return found if found is not None and found["metadata"]["uid"] == uid else None

    def must_get(self, kind: str, name: str) -> Json:
        """An object that must be there."""
        found = self.cluster.get(kind, name, self.namespace)
        if found is None:
            raise ClusterError(f"{kind} {name} is gone: somebody deleted it while the fault began")
        return found

    def untouched(self, kind: str, name: str) -> Json:
        """An object that must be there and that no fault has changed."""
        found = self.must_get(kind, name)
        refuse_noted(found)
        return found


def refuse_noted(thing: Json) -> None:
    """A ClusterError where a fault, of this run or another, has changed the object: what it noted would be lost."""
    note = note_on(thing)
    if note is not None:
        name = f"{thing['kind']} {thing['metadata']['name']}"
        raise ClusterError(
            f"{name} is changed by run {note.run} (fault {note.fault}); wait for its end, or clean it up: "
            f"chaosgate cleanup {note.run}"
        )


def once_more(change: Callable[[], Found]) -> Found:
    """What `change` returns; it reads and writes an object, and is tried again where that was written in between."""
    for attempt in range(ATTEMPTS):
        try:
            return change()
        except Conflict:
            if attempt == ATTEMPTS - 1:
                raise
            time.sleep(POLL)
    raise AssertionError("the last attempt returns or raises")


def shows(look: Callable[[], bool]) -> bool:
    """Whether `look` holds within SHOWN_SECONDS."""
    deadline = time.monotonic() + SHOWN_SECONDS
    while not look():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL)
    return True


def noted(scene: Scene, change: Any, before: Json, put: Json) -> Note:
    """The note of this fault."""
    return Note(run=scene.run, fault=scene.fault, change=change, before=before, put=put)
