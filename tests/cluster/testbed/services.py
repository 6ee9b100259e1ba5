"""What a cluster of a team has besides Kubernetes: DNS, an S3 store, an MLflow server, and Argo's controller."""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import requests
import yaml
from kubernetes import client, config, dynamic

from testbed.build import argo_source
from testbed.node import Node, NodeError, wait_for
from testbed.places import BUCKET, HOST_LINK, MLFLOW_PORT, NODE_ADDRESS, STORE_PORT

NAMESPACE = "argo"
"""Where Argo's controller keeps its configuration."""
EXECUTOR_IMAGE = "localhost/argoexec:1"
FIELD_MANAGER = "chaosgate-tests"


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
    node.start(
        "mlflow",
        sys.executable,
        "-m",
        "mlflow",
        "server",
        "--host",
        "0.0.0.0",
        "--port",
        str(MLFLOW_PORT),
        "--backend-store-uri",
        f"sqlite:///{folder}/mlflow.db",
        "--artifacts-destination",
        str(folder / "artifacts"),
        "--workers",
        "1",
        "--allowed-hosts",
        "*",
        env={"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"},
    )
    return f"http://{NODE_ADDRESS}:{MLFLOW_PORT}"


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


def start_argo(node: Node, binaries: Path, kubeconfig: Path) -> None:
    """Argo's definitions in full form, its configuration and its controller."""
    for file in sorted((argo_source() / "manifests/base/crds/full").glob("argoproj.io_*.yaml")):
        apply(kubeconfig, yaml.safe_load_all(file.read_text()))
    apply(kubeconfig, argo_configuration())
    node.start(
        "workflow-controller",
        binaries / "workflow-controller",
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
        env={"LEADER_ELECTION_DISABLE": "true"},
    )


def argo_configuration() -> Iterator[dict[str, Any]]:
    """Namespace, the store's credentials in the namespace of the tests is theirs, and the controller's ConfigMap."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    repository = {
        "s3": {
            "bucket": BUCKET,
            "endpoint": f"{NODE_ADDRESS}:{STORE_PORT}",
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


def apply(kubeconfig: Path, documents: Any) -> None:
    """Apply manifests on the server's side; a field that the server does not know is an error."""
    # As compact JSON, which is YAML: as usual YAML the largest definition is over the server's limit of 3 MiB.
    api = config.new_client_from_config(str(kubeconfig))
    api.configuration.verify_ssl = False
    for document in documents:
        _apply_one(api, document)


def _apply_one(api: client.ApiClient, document: Mapping[str, Any]) -> None:
    url = f"{api.configuration.host}{path_of(api, document)}"
    answer = requests.patch(
        url,
        params={"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict", "force": "true"},
        data=json.dumps(document, separators=(",", ":")).encode(),
        headers={
            "Content-Type": "application/apply-patch+yaml",
            "Authorization": api.configuration.api_key["authorization"],
        },
        verify=False,
        timeout=60,
    )
    if not answer.ok:
        raise NodeError(f"{document['kind']} {document['metadata']['name']}: {answer.text}")


def path_of(api: client.ApiClient, document: Mapping[str, Any]) -> str:
    """The address of an object below the API server's, once its kind is served."""
    found: list[Any] = []

    def known() -> bool:
        try:
            kinds = dynamic.DynamicClient(api).resources
            found.append(kinds.get(api_version=document["apiVersion"], kind=document["kind"]))
        except dynamic.exceptions.ResourceNotFoundError:
            return False
        return True

    wait_for(known, f"the kind {document['kind']}", 30)
    metadata = document["metadata"]
    path: str = found[0].path(name=metadata["name"], namespace=metadata.get("namespace"))
    return path
