"""The pods of a run: what they print, and why one does not start."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.cluster.names import ROLE_LABEL, STEP_LABEL, selector
from chaosgate.components.progress import heard
from chaosgate.deploy.cluster.ready import events
from chaosgate.errors import ClusterError, one_line

Json = Mapping[str, Any]

CONTAINER = "main"
"""What Argo calls a step's own container; a server of the run has one container only."""
PATIENT = ("PodInitializing", "ContainerCreating")
"""Reasons a container waits for that say nothing yet."""
_STAMPED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}\S+) (.*)")
"""A line behind its time, which the kubelet always writes with nine digits: as texts they compare as times."""
_ARGO = re.compile(r'time="\S+" level=info msg=.* argo=true.*')
"""What Argo's executor says in a step's own log."""


def pods_of(cluster: Cluster, run: str) -> dict[str, Json]:
    """The pods of the run by step or server; several of one server have the ends of their own names behind it."""
    found: dict[str, list[Json]] = {}
    for pod in cluster.select("Pod", selector(run)):
        labels = pod["metadata"]["labels"]
        name = labels.get(STEP_LABEL) or labels.get(ROLE_LABEL)
        if name is not None:
            found.setdefault(name, []).append(pod)
    return dict(_named(found))


def _named(found: Mapping[str, list[Json]]) -> Iterator[tuple[str, Json]]:
    for name, pods in found.items():
        if len(pods) == 1:
            yield name, pods[0]
        else:
            for pod in pods:
                yield f"{name}-{pod['metadata']['name'].rsplit('-', 1)[-1]}", pod


def has_started(pod: Json) -> bool:
    """Whether the pod's own container has run, so that there may be a log."""
    statuses = pod.get("status", {}).get("containerStatuses", [])
    own = [one for one in statuses if one["name"] == CONTAINER] or statuses
    return any(one.get("state", {}).keys() & {"running", "terminated"} or one.get("restartCount") for one in own)


def why_pending(cluster: Cluster, pod: Json) -> str | None:
    """Why a pod has not started, in the cluster's words; None where nothing speaks against it yet."""
    reasons = [*_unscheduled(pod), *_waiting(pod)]
    if not has_started(pod):
        reasons += events(cluster, pod["metadata"]["name"])
    return "; ".join(dict.fromkeys(reasons)) or None


def _unscheduled(pod: Json) -> Iterator[str]:
    for condition in pod.get("status", {}).get("conditions", []):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            yield one_line(f"{condition.get('reason')}: {condition.get('message', 'no message')}")


def _waiting(pod: Json) -> Iterator[str]:
    """What its containers wait for, Argo's own among them."""
    status = pod.get("status", {})
    for container in (*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])):
        found = container.get("state", {}).get("waiting")
        if found and found.get("reason") not in PATIENT:
            yield one_line(f"{found.get('reason')}: {found.get('message', 'no message')}")


class PodLog:
    """The lines of one pod's log; each is given once. What Argo's executor says in it is left out.

    `progress` says whether it gives the lines, too, by which a step tells its progress to programs.
    """

    def __init__(self, cluster: Cluster, pod: Json, *, progress: bool = True) -> None:
        self._cluster, self._pod, self._progress = cluster, str(pod["metadata"]["name"]), progress
        names = [one["name"] for one in pod["spec"]["containers"]]
        self._container = CONTAINER if CONTAINER in names else names[0]
        self._last = ""

    def lines(self, *, rest: bool = False) -> Iterator[str]:
        """The lines since the last call; none when the pod is gone or has printed nothing that is kept.

        `rest` is for readers of files: a cluster never gives half a line.
        """
        yield from self._new(self._read(since=self._second()))

    def tail(self, count: int | None) -> Iterator[str]:
        """At most the last `count` lines so far, all of them for None."""
        yield from self._new(self._read(lines=count))

    def _read(self, **part: Any) -> list[str]:
        try:
            return self._cluster.logs(self._pod, container=self._container, stamped=True, **part).splitlines()
        except ClusterError:
            return []

    def _second(self) -> str | None:
        """The second of the last line: the API server counts in whole ones."""
        return f"{self._last[:19]}Z" if self._last else None

    def _new(self, lines: Iterable[str]) -> Iterator[str]:
        """What lies behind the last line. What has no stamp is the kubelet's word that it has lost the log."""
        before = self._last
        for stamp, text in (found.groups() for line in lines if (found := _STAMPED.fullmatch(line))):
            if stamp > before:
                self._last = max(self._last, stamp)
                if not _ARGO.fullmatch(text) and (self._progress or heard(text) is None):
                    yield text
