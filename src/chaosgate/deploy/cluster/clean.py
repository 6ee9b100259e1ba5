"""Take away every object of a run, and prove that it is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator

from chaosgate.cluster.api import Cluster
from chaosgate.cluster.names import ROLE_LABEL, object_name, selector
from chaosgate.deploy.cluster.bring_up import MARKER

KINDS = ("Deployment", "Service", "NetworkPolicy", "Pod", "ConfigMap", "Job")
"""What a run makes, in the order in which it is taken away: owners before what they own."""
SPARED = (MARKER, "sweeper")
"""Roles that go last: while the marker stands, the sweeper knows that the run is not over."""
GONE_SECONDS = 60.0
POLL = 0.5


def remove_objects(cluster: Cluster, run: str) -> tuple[list[str], list[str]]:
    """Delete what the run made but marker and sweeper; what was deleted, and what is still there after a while."""
    found = list(own_objects(cluster, run))
    for kind, name in found:
        cluster.delete(kind, name)
    deadline = time.monotonic() + GONE_SECONDS
    while left := list(own_objects(cluster, run)):
        if time.monotonic() > deadline:
            break
        time.sleep(POLL)
    return [f"{kind} {name}" for kind, name in found], [f"{kind} {name}" for kind, name in left]


def own_objects(cluster: Cluster, run: str) -> Iterator[tuple[str, str]]:
    """Kind and name of every object of the run that must go; steps' own pods belong to the workflow."""
    for kind in KINDS:
        for item in cluster.select(kind, selector(run)):
            metadata = item["metadata"]
            if metadata.get("labels", {}).get(ROLE_LABEL) not in (*SPARED, None):
                yield kind, metadata["name"]


def remove_marker(cluster: Cluster, run: str) -> None:
    """The run is over and sealed clean: marker and sweeper go."""
    cluster.delete("ConfigMap", object_name(run, MARKER))
    cluster.delete("Job", object_name(run, "sweeper"))


def is_marked(cluster: Cluster, run: str) -> bool:
    """Whether the run is not over."""
    return cluster.get("ConfigMap", object_name(run, MARKER)) is not None
