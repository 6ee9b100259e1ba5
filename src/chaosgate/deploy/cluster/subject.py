"""What serves the target of a run on a cluster: its address, its pods, and the image they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.cluster.names import labels, object_name
from chaosgate.deploy.cluster.bring_up import REACHABLE_DEADLINE, READY_DEADLINE, address, host
from chaosgate.deploy.cluster.manifests import service
from chaosgate.deploy.cluster.ready import wait_reachable, wait_ready, wait_serving
from chaosgate.errors import DeployError
from chaosgate.model.fault import ClusterTarget
from chaosgate.model.spec import ChaosSpec, KubernetesTarget

ENGINE_ROLE = "engine"
"""The role of the pods that are started for a run as its target."""
TARGET_ROLE = "target"
"""The role of the Service that a run puts in front of a Deployment that has none."""
SERVING_DEADLINE = 30.0
"""Seconds in which an existing Service must have a pod that is ready: it was there before the run."""

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Served:
    """Where the server under test is reached, and its pods where they are known."""

    url: str
    pods: ClusterTarget | None


def own_pods(cluster: Cluster, spec: ChaosSpec, run: str) -> ClusterTarget | None:
    """The pods that serve the target of `run`; None for a server of which only an address is known.

    A DeployError says what is wrong with the Service or the Deployment that the spec names.
    """
    target = spec.spec.target
    if target.kubernetes is not None:
        return find_served(cluster, target.kubernetes)
    if target.endpoint is not None:
        return None
    return ClusterTarget(namespace=cluster.namespace, labels=labels(run, ENGINE_ROLE))


def find_served(cluster: Cluster, target: KubernetesTarget) -> ClusterTarget | None:
    """The pods of an existing Service or Deployment; None for a Service that selects none, such as an external one."""
    if target.service is None:
        return ClusterTarget(namespace=cluster.namespace, labels=deployment_labels(cluster, str(target.deployment)))
    place = target.namespace or cluster.namespace
    selector = service_selector(cluster, target.service, place, target.port)
    return ClusterTarget(namespace=place, labels=selector) if selector else None


def reach(cluster: Cluster, run: str, target: KubernetesTarget) -> Served:
    """The address of an existing Service, or of a Deployment in the run's namespace, behind a Service of the run."""
    pods = find_served(cluster, target)
    if target.service is not None:
        place = target.namespace or cluster.namespace
        if pods is not None:
            wait_serving(cluster, target.service, place, selector_of(pods), SERVING_DEADLINE)
        return Served(f"http://{target.service}.{place}.svc:{target.port}", pods)
    assert pods is not None  # a Deployment has labels
    name = object_name(run, TARGET_ROLE)
    wait_ready(cluster, str(target.deployment), selector_of(pods), READY_DEADLINE)
    cluster.apply(service(run, TARGET_ROLE, {"http": target.port}, pods.labels))
    wait_reachable(host(cluster, name), target.port, REACHABLE_DEADLINE)
    return Served(address(cluster, name, target.port), pods)


def service_selector(cluster: Cluster, name: str, namespace: str, port: int) -> dict[str, str]:
    """The labels of the pods behind a Service; empty when it selects none. A DeployError where it has no such port."""
    found = cluster.get("Service", name, namespace)
    if found is None:
        raise DeployError(
            f"namespace {namespace} has no Service {name}; `kubectl get services --namespace {namespace}` lists what "
            "is there: write its name as target.kubernetes.service"
        )
    ports = [one["port"] for one in found["spec"].get("ports", [])]
    if port not in ports:
        listed = ", ".join(map(str, ports)) or "none"
        raise DeployError(
            f"Service {name} in namespace {namespace} has the ports {listed}, not {port}; write one of them as "
            "target.kubernetes.port"
        )
    return dict(found["spec"].get("selector") or {})


def deployment_labels(cluster: Cluster, name: str) -> dict[str, str]:
    """The labels by which a Deployment of the run's namespace finds its pods; a DeployError where that is unclear."""
    found = cluster.get("Deployment", name)
    if found is None:
        raise DeployError(
            f"namespace {cluster.namespace} has no Deployment {name}; run the spec in the Deployment's namespace, or "
            "name the Service in front of it with target.kubernetes.service and its namespace"
        )
    selector = found["spec"]["selector"]
    if selector.get("matchExpressions") or not selector.get("matchLabels"):
        raise DeployError(
            f"Deployment {name} finds its pods by expressions, which a Service cannot; make a Service for it and name "
            "that with target.kubernetes.service"
        )
    return dict(selector["matchLabels"])


def selector_of(pods: ClusterTarget) -> str:
    """The label selector that finds `pods` in their namespace."""
    return ",".join(f"{key}={value}" for key, value in sorted(pods.labels.items()))


def read_image(cluster: Cluster, pods: ClusterTarget) -> str:
    """`sha256:<hex>` of the image that the pods run; each image where they differ, separated by commas.

    A pod of several containers counts with each of them, `name=sha256:<hex>`. Pods that are going, or that have not
    started, do not count; a DeployError when none is left.
    """
    found = cluster.select("Pod", selector_of(pods), pods.namespace)
    images = {image for pod in found if (image := image_of(pod)) is not None}
    if not images:
        raise DeployError(
            f"no running pod with the labels {selector_of(pods)} in namespace {pods.namespace} says which image it runs"
        )
    return ", ".join(sorted(images))


def image_of(pod: Json) -> str | None:
    """The image of a pod, None before it started and while it goes."""
    containers = pod.get("status", {}).get("containerStatuses") or []
    digests = {one["name"]: str(one.get("imageID", "")).rpartition("@")[2] for one in containers}
    if pod["metadata"].get("deletionTimestamp") or not digests or not all(digests.values()):
        return None
    if len(digests) == 1:
        return next(iter(digests.values()))
    return " ".join(f"{name}={digest}" for name, digest in sorted(digests.items()))


def one_image(cluster: Cluster, pods: ClusterTarget) -> str:
    """The image of a target whose pods all run the same; a DeployError while a rollout is under way."""
    found = read_image(cluster, pods)
    if ", " in found:
        raise DeployError(
            f"the target's pods run different images: {found}; a rollout is under way: wait until it is over"
        )
    return found
