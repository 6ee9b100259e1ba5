"""Specs that a cluster runs by itself: the CronWorkflow that bears the spec's name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from chaosgate.cluster.api import Cluster, Json
from chaosgate.errors import ClusterError

KIND = "CronWorkflow"


@dataclass(frozen=True)
class Schedule:
    """A schedule as the cluster has it."""

    name: str
    namespace: str
    cron: str
    suspended: bool
    last: str | None
    """When it started its last run, ISO 8601; None before the first."""
    problems: tuple[str, ...]
    """What Argo says is wrong with it."""

    def to_json(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            "name": self.name,
            "namespace": self.namespace,
            "cron": self.cron,
            "suspended": self.suspended,
            "lastRun": self.last,
            "problems": list(self.problems),
        }


def apply_schedule(cluster: Cluster, text: str) -> Schedule:
    """Make the compiled CronWorkflow `text`, or bring the one of that name to what it says."""
    manifest: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
    metadata = {**manifest["metadata"], "namespace": cluster.namespace}
    return _read(cluster.apply({**manifest, "metadata": metadata}))


def read_schedule(cluster: Cluster, name: str) -> Schedule:
    """The schedule of the spec `name`; a ClusterError where there is none."""
    found = cluster.get(KIND, name)
    if found is None:
        raise _unknown(cluster, name)
    return _read(found)


def suspend_schedule(cluster: Cluster, name: str, suspended: bool) -> Schedule:
    """Keep the schedule and start no run, or go on; runs that go on are left alone."""
    read_schedule(cluster, name)
    return _read(cluster.patch(KIND, name, {"spec": {"suspend": suspended}}))


def remove_schedule(cluster: Cluster, name: str) -> None:
    """Take the schedule away, and the workflows of its runs that are over; a ClusterError where there is none.

    A run that goes on would lose its workflow with it, so that a schedule with one is refused.
    """
    found = cluster.get(KIND, name)
    if found is None:
        raise _unknown(cluster, name)
    active = [str(one.get("name")) for one in found.get("status", {}).get("active") or []]
    if active:
        raise ClusterError(
            f"the schedule {name} has a run that goes on: {', '.join(active)}; wait for it, or end it: "
            f"chaosgate abort {active[0]} --on argo --namespace {cluster.namespace}"
        )
    cluster.delete(KIND, name)


def _unknown(cluster: Cluster, name: str) -> ClusterError:
    known = ", ".join(sorted(one["metadata"]["name"] for one in cluster.select(KIND))) or "none"
    return ClusterError(
        f"namespace {cluster.namespace} of {cluster.server} has no schedule {name}; its schedules: {known}; "
        "make it: chaosgate schedule SPEC"
    )


def _read(found: Json) -> Schedule:
    spec, status = found["spec"], found.get("status", {})
    return Schedule(
        name=found["metadata"]["name"],
        namespace=found["metadata"]["namespace"],
        cron=" and ".join(spec.get("schedules", [])),
        suspended=bool(spec.get("suspend")),
        last=status.get("lastScheduledTime"),
        problems=tuple(str(one.get("message")) for one in status.get("conditions") or [] if one.get("message")),
    )
