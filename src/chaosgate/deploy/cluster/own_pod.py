"""How deploy's own pod was made: what a run starts besides it is made the same way."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.deploy.cluster.manifests import OwnPod
from chaosgate.errors import DeployError
from chaosgate.tokens import KEY_VARIABLE

CONTAINER = "main"
"""What Argo and Kubeflow Pipelines call a step's own container."""
CUT = 60
"""A host name longer than this may have been cut: Kubernetes takes hyphens and dots at its end away, too."""
KEPT = (KEY_VARIABLE, "MLFLOW_")
"""Environment variables with these beginnings are kept: the key of the run's tokens, and how its record is reached."""


def read_own_pod(cluster: Cluster) -> OwnPod:
    """Image, account and environment of the pod this process runs in.

    A pod's host name is its name, cut to 63 characters. Pods of one workflow that begin alike were made alike.
    """
    name = socket.gethostname()
    pod = cluster.get("Pod", name)
    if pod is None and len(name) > CUT:
        pod = next((one for one in cluster.select("Pod") if one["metadata"]["name"].startswith(name)), None)
    if pod is None:
        raise DeployError(f"this process is no pod of namespace {cluster.namespace}: there is no pod {name}")
    return own_pod(pod)


def own_pod(pod: Mapping[str, Any]) -> OwnPod:
    """What a pod's own specification says."""
    spec = pod["spec"]
    container = next((one for one in spec["containers"] if one["name"] == CONTAINER), spec["containers"][0])
    environment = tuple(one for one in container.get("env", []) if one["name"].startswith(KEPT))
    if not any(one["name"] == KEY_VARIABLE for one in environment):
        raise DeployError(f"the pod has no environment variable {KEY_VARIABLE}; compile the pipeline again")
    return OwnPod(
        image=container["image"],
        pull_policy=container.get("imagePullPolicy", "IfNotPresent"),
        service_account=spec.get("serviceAccountName", "default"),
        pull_secrets=tuple(spec.get("imagePullSecrets", [])),
        node_selector=spec.get("nodeSelector"),
        tolerations=tuple(one for one in spec.get("tolerations", []) if not _by_kubernetes(one)),
        environment=environment,
        carried=any(owner["kind"] == "Workflow" for owner in pod["metadata"].get("ownerReferences", [])),
    )


def _by_kubernetes(toleration: Mapping[str, Any]) -> bool:
    """Whether Kubernetes added the toleration by itself, as it does to every pod."""
    return str(toleration.get("key", "")).startswith("node.kubernetes.io/")
