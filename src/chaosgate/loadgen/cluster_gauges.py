"""What the API server says of the target of a fault, each second: the witness of faults of the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from chaosgate.cluster.api import Cluster
from chaosgate.cluster.names import TAINT
from chaosgate.cluster.targets import deaths, deployment_of, enforced, is_ready, main_container, target_of
from chaosgate.model.change import Resource
from chaosgate.model.fault import ClusterFault, ClusterTarget, GaugeName
from chaosgate.model.observation import cluster_gauge

Json = dict[str, Any]


class TargetWatch:
    """Reads the gauges of one fault's target; what is counted is counted from the first reading on.

    ready: pods that take requests. lost: pods that were there and are gone, or on their way out. deaths: containers
    that ended in pods that stay. cpu, memory: the limit in force, of what it was when the pod was seen first; the mean
    over the pods, and absent without limits. endpoints: addresses to which Services send. replicas, unschedulable,
    tainted: what the target's Deployments ask for, and how many of its nodes are cordoned or tainted by a run; only of
    faults that change these.
    """

    def __init__(self, cluster: Cluster, fault: ClusterFault, default: ClusterTarget | None) -> None:
        self.cluster, self.fault = cluster, fault
        self.target = target_of(fault, default)
        self._needs = {need.resource for need in fault.permissions()}
        self._seen: set[str] = set()
        self._deaths: dict[str, int] = {}
        self._first: dict[str, Mapping[Resource, float]] = {}
        self._nodes: set[str] = set()
        self._deployments: set[str] = set()

    def read(self) -> dict[str, float]:
        """The values by the gauge's whole name; a ClusterError where the API server does not answer."""
        chosen = ",".join(f"{key}={value}" for key, value in sorted(self.target.labels.items()))
        pods = self.cluster.select("Pod", chosen, self.target.namespace)
        staying = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        self._note(staying)
        values: dict[GaugeName, float] = {
            "ready": float(sum(map(is_ready, pods))),
            "lost": float(len(self._seen - {pod["metadata"]["uid"] for pod in staying})),
            "deaths": float(sum(self._deaths.values())),
            "endpoints": float(self._endpoints()),
        }
        values |= dict(self._limits(staying))
        values |= dict(self._others())
        return {cluster_gauge(self.fault.name, name): value for name, value in values.items()}

    def _note(self, pods: list[Json]) -> None:
        for pod in pods:
            uid = pod["metadata"]["uid"]
            self._seen.add(uid)
            self._deaths[uid] = max(self._deaths.get(uid, 0), deaths(pod))
            limits = self._enforced(pod)
            # A kubelet reports none before the container runs.
            if limits:
                self._first.setdefault(uid, limits)
        self._nodes |= {pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")}
        self._deployments |= {owner for pod in pods if (owner := deployment_of(pod)) is not None}

    def _enforced(self, pod: Json) -> Mapping[Resource, float]:
        return enforced(pod, main_container(pod, getattr(self.fault, "container", None))["name"])

    def _limits(self, pods: list[Json]) -> Iterator[tuple[Resource, float]]:
        for resource in get_args(Resource):
            pairs = [(self._enforced(pod), self._first.get(pod["metadata"]["uid"], {})) for pod in pods]
            shares = [now[resource] / first[resource] for now, first in pairs if resource in now and resource in first]
            if shares:
                yield resource, sum(shares) / len(shares)

    def _endpoints(self) -> int:
        """Ready addresses of the target's pods, each once however many Services lead to it."""
        slices = self.cluster.select("EndpointSlice", "", self.target.namespace)
        ready = {
            endpoint.get("targetRef", {}).get("uid")
            for one in slices
            for endpoint in one.get("endpoints") or ()
            if endpoint.get("conditions", {}).get("ready", True)
        }
        return len(ready & self._seen)

    def _others(self) -> Iterator[tuple[GaugeName, float]]:
        if "deployments" in self._needs:
            found = [self.cluster.get("Deployment", name, self.target.namespace) for name in sorted(self._deployments)]
            yield "replicas", float(sum(one["spec"].get("replicas", 1) for one in found if one is not None))
        if "nodes" in self._needs:
            nodes = [one for one in self.cluster.select("Node") if one["metadata"]["name"] in self._nodes]
            yield "unschedulable", float(sum(bool(one["spec"].get("unschedulable")) for one in nodes))
            yield "tainted", float(sum(map(_is_tainted, nodes)))


def _is_tainted(node: Json) -> bool:
    return any(taint["key"] == TAINT for taint in node["spec"].get("taints") or ())
