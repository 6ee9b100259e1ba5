"""What a cluster of a team has besides Kubernetes: DNS, an S3 store, an MLflow server, and Argo's controller."""

from __future__ import annotations

import sys
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from testbed.api import Api
from testbed.node import Node, wait_for
from testbed.places import BUCKET, HOST_LINK, MLFLOW_PORT, NODE_ADDRESS, STORE_PORT

NAMESPACE = "argo"
"""Where Argo's controller keeps its configuration."""
CONTROLLER = "workflow-controller"
MLFLOW_SETTINGS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    # Seven more processes, for what no test asks for.
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}
EXECUTOR_IMAGE = "localhost/argoexec:1"


def start_dns(node: Node, binaries: Path) -> None:
    """Names of Services, and nothing else: no name of the outside is looked up."""
    corefile = node.folder / "Corefile"
    corefile.write_text(
        f"cluster.local {{\n bind {NODE_ADDRESS}\n kubernetes {{\n  kubeconfig {node.folder}/node.kubeconfig\n }}\n}}\n"
    )
    node.start("coredns", binaries / "coredns", "-conf", corefile)


def start_store(node: Node, binaries: Path) -> None:
    """The S3 store."""
    node.start("store", binaries / "store", "-address", f"{NODE_ADDRESS}:{STORE_PORT}", "-bucket", BUCKET)


def start_mlflow(node: Node) -> str:
    """An MLflow server that hands artifacts on, too; its address, the same from pods and from this machine."""
    folder = node.folder / "mlflow"
    folder.mkdir()
    node.start("mlflow", *mlflow_command(folder), env=MLFLOW_SETTINGS)
    return f"http://{NODE_ADDRESS}:{MLFLOW_PORT}"


def mlflow_command(folder: Path) -> list[str]:
    """The command line of an MLflow server that keeps everything in `folder`."""
    words = [sys.executable, "-m", "mlflow", "server", "--host", "0.0.0.0", "--port", str(MLFLOW_PORT)]
    words += ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", f"{folder}/artifacts"]
    return [*words, "--workers", "1", "--allowed-hosts", "*"]


def wait_for_mlflow(node: Node) -> None:
    """Return once the server answers."""

    def healthy() -> bool:
        node.check()
        try:
            with urllib.request.urlopen(f"http://{HOST_LINK[1]}:{MLFLOW_PORT}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    wait_for(healthy, "the MLflow server", 120)


def define_argo(kubeconfig: Path, definitions: Sequence[Mapping[str, Any]]) -> None:
    """Argo's definitions and its configuration, once the server knows the kinds."""
    api = Api(kubeconfig)
    kinds = [
        (f"{one['spec']['group']}/{one['spec']['versions'][0]['name']}", one["spec"]["names"]["kind"])
        for one in definitions
    ]
    for document in (*definitions, *argo_configuration()):
        api.create(document)
    # A definition is there at once, what it defines a moment later; a controller that comes between the two ends.
    wait_for(lambda: all(api.served(version, kind) for version, kind in kinds), "Argo's kinds", 30)


def start_argo(node: Node, binaries: Path) -> None:
    """Argo's controller."""
    node.start(
        CONTROLLER,
        binaries / CONTROLLER,
        "--kubeconfig",
        node.folder / "node.kubeconfig",
        "--namespace",
        NAMESPACE,
        "--executor-image",
        EXECUTOR_IMAGE,
        "--executor-image-pull-policy",
        "Never",
        "--loglevel",
        "info",
        # How long a workflow waits before the next step is looked for: 10 s unless it is said.
        env={"LEADER_ELECTION_DISABLE": "true", "DEFAULT_REQUEUE_TIME": "1s"},
    )


def argo_configuration(store: str = NODE_ADDRESS) -> Iterator[dict[str, Any]]:
    """Namespace and ConfigMap of the controller; the store's credentials belong in the namespaces of the tests."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    repository = {
        "s3": {
            "bucket": BUCKET,
            "endpoint": f"{store}:{STORE_PORT}",
            "insecure": True,
            "accessKeySecret": {"name": "artifact-store", "key": "accessKey"},
            "secretKeySecret": {"name": "artifact-store", "key": "secretKey"},
        }
    }
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "workflow-controller-configmap", "namespace": NAMESPACE},
        "data": {"artifactRepository": yaml.safe_dump(repository)},
    }


def store_secret(namespace: str) -> dict[str, Any]:
    """The store's credentials: any will do."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "artifact-store", "namespace": namespace},
        "stringData": {"accessKey": "test", "secretKey": "test-secret"},
    }


def apply(kubeconfig: Path, documents: Iterable[Mapping[str, Any]]) -> None:
    """Apply manifests on the server's side; a field that the server does not know is an error."""
    api = Api(kubeconfig)
    for document in documents:
        api.apply(document)
