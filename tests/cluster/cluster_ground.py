"""The cluster under test: the one KUBECONFIG names, else one of this machine's own, of which nothing may be left."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import requests
from testbed.api import Api
from testbed.cluster import IMAGE, build, cluster, why_not
from testbed.node import Node
from testbed.places import ARGO, cache
from testbed.services import CONTROLLER, start_argo, store_secret
from testbed.trace import differences, look, members, namespaces_of

from chaosgate.deploy.cluster.rbac import rbac_manifests
from chaosgate.model.spec import ChaosSpec

Found = TypeVar("Found")

PATIENCE = 420.0
"""Seconds to wait for a workflow; only a broken one needs them."""
POLL = 0.3
"""Seconds between two looks."""
BORROWED = ("CHAOSGATE_TEST_IMAGE", "MLFLOW_TRACKING_URI")
"""What has to be said of a cluster besides its kubeconfig: the image its nodes have, and the address of its MLflow."""


class NoCluster(Exception):
    """There is no cluster to test on, and why."""


@dataclass(frozen=True)
class Ground:
    """The cluster under test."""

    kubeconfig: Path
    mlflow: str
    """The MLflow server's address, the same from pods and from here."""
    image: str
    """chaosgate's image, which the cluster's nodes have."""
    node: Node | None = None
    """The node it all runs on; None for somebody else's cluster."""

    @cached_property
    def api(self) -> Api:
        """The API server, asked as an administrator."""
        return Api(self.kubeconfig)

    def eventually(self, look: Callable[[], Found | None], what: str, seconds: float = PATIENCE) -> Found:
        """What `look` finds, once it finds something; an error of the node where one of its parts has ended."""
        deadline = time.monotonic() + seconds
        while not (found := look()):
            assert time.monotonic() < deadline, f"{what} did not come within {seconds:g} s"
            if self.node is not None:
                self.node.check()
            time.sleep(POLL)
        return found

    def versions(self) -> dict[str, str]:
        """What the cluster is made of, for the record."""
        node = (self.api.get("/api/v1/nodes") or {})["items"][0]["status"]["nodeInfo"]
        return {
            "Kubernetes": (self.api.get("/version") or {})["gitVersion"],
            "Argo Workflows": ARGO if self.node else "the cluster's own",
            "container runtime": node["containerRuntimeVersion"].replace("://", " "),
            "system": node["osImage"],
        }

    def restart_controller(self) -> None:
        """Kill Argo's controller, and have it start again."""
        if self.node is not None:
            self.node.stop_part(CONTROLLER)
            start_argo(self.node, cache() / "bin")
            return
        pods = self.api.get("/api/v1/namespaces/argo/pods", labelSelector=f"app={CONTROLLER}") or {}
        for pod in pods["items"]:
            self.api.delete(f"/api/v1/namespaces/argo/pods/{pod['metadata']['name']}")

    def tags(self, run: str) -> dict[str, str] | None:
        """The tags of a run in MLflow, None where it has none of it."""
        asked = {"experiment_ids": self._experiments(), "filter": f"tags.`chaosgate.run` = '{run}'"}
        found = requests.post(f"{self.mlflow}/api/2.0/mlflow/runs/search", json=asked, timeout=20)
        found.raise_for_status()
        tags = [
            {tag["key"]: tag["value"] for tag in one["data"].get("tags", [])} for one in found.json().get("runs", [])
        ]
        return next((one for one in tags if "chaosgate.fault" not in one), None)

    def _experiments(self) -> list[str]:
        found = requests.get(f"{self.mlflow}/api/2.0/mlflow/experiments/search?max_results=100", timeout=20)
        found.raise_for_status()
        return [one["experiment_id"] for one in found.json().get("experiments", [])]


@contextmanager
def cluster_under_test() -> Iterator[Ground]:
    """The cluster; a NoCluster says why there is none. Of one of this machine's own nothing is left afterwards."""
    if os.environ.get("KUBECONFIG"):
        yield borrowed()
        return
    if reason := why_not():
        raise NoCluster(reason)
    images = build()
    with traceless() as namespaces, cluster(images) as up:
        namespaces |= namespaces_of(up.node.pid)
        yield Ground(up.kubeconfig, up.mlflow, IMAGE, up.node)


def borrowed() -> Ground:
    """Somebody else's cluster."""
    missing = [name for name in BORROWED if not os.environ.get(name)]
    if missing:
        raise NoCluster(
            f"KUBECONFIG is set, but {' and '.join(missing)} is not: the image on its nodes, the address of its MLflow"
        )
    image, mlflow = (os.environ[name] for name in BORROWED)
    return Ground(Path(os.environ["KUBECONFIG"]), mlflow, image)


@contextmanager
def traceless() -> Iterator[set[str]]:
    """A set for the namespaces of a node. An AssertionError when the machine is not as it was before, or they are."""
    before, namespaces = look(), set[str]()
    yield namespaces
    left = [*differences(before, look()), *(f"process came: {pid}" for pid in members(namespaces))]
    assert not left, "\n".join(["the test cluster left traces:", *left])


@contextmanager
def fresh_namespace(ground: Ground, spec: ChaosSpec) -> Iterator[str]:
    """A namespace where runs of `spec` have the rights they need and no others; afterwards each node is as it was."""
    name = f"suite-{secrets.token_hex(3)}"
    for document in (*namespace_objects(name), *rbac_manifests(spec, name)):
        ground.api.apply(document)
    before = marks_of_nodes(ground)
    yield name
    ground.api.delete(f"/api/v1/namespaces/{name}")
    assert marks_of_nodes(ground) == before, "a node is not as it was"


def namespace_objects(name: str) -> Iterator[dict[str, Any]]:
    """The namespace, whose owner allows faults in it, and the Secrets that runs need."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"chaosgate/allowed": "true"}}}
    yield store_secret(name)
    key = {"key": secrets.token_hex(16)}
    metadata = {"name": "chaosgate-gateway", "namespace": name}
    yield {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": key}


def marks_of_nodes(ground: Ground) -> dict[str, Any]:
    """What of each node says which pods may run on it."""
    nodes = (ground.api.get("/api/v1/nodes") or {})["items"]
    keys = ("taints", "unschedulable")
    return {one["metadata"]["name"]: [one["metadata"]["labels"], *map(one["spec"].get, keys)] for one in nodes}
