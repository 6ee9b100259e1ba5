"""The tests on a kind cluster: `python -m testbed.kind COMMAND ...` gives it what they need and runs COMMAND.

KUBECONFIG leads to the cluster, docker holds its nodes. Argo's controller comes from its own release, the S3 store and
MLflow run on this machine, at the address that the nodes have of it. For hosted runners, which are thrown away.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import requests
import yaml

from testbed.api import Api
from testbed.build import argo_definitions
from testbed.node import wait_for
from testbed.places import ARGO, BINARIES, BUCKET, MLFLOW_PORT, ROOT, STORE_PORT
from testbed.services import CONTROLLER, MLFLOW_SETTINGS, NAMESPACE, argo_configuration, mlflow_command

IMAGE = "localhost/chaosgate:test"
CLUSTER = os.environ.get("KIND_CLUSTER", "kind")
INSTALL = f"https://github.com/argoproj/argo-workflows/releases/download/{ARGO}/install.yaml"
SECONDS = 300.0
"""Until everything is up: the controller's image is pulled meanwhile."""


def main(command: list[str]) -> int:
    """The exit code of `command`."""
    kubeconfig = Path(os.environ.get("KUBECONFIG", "~/.kube/config")).expanduser()
    load_image()
    address = gateway()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        store = ["go", "run", "./store", "-address", f"{address}:{STORE_PORT}", "-bucket", BUCKET]
        running.enter_context(process(store, BINARIES / "services"))
        running.enter_context(process(mlflow_command(Path(folder)), Path(folder), MLFLOW_SETTINGS))
        mlflow = f"http://{address}:{MLFLOW_PORT}"
        install_argo(Api(kubeconfig), address)
        for url in (f"{mlflow}/health", f"http://{address}:{STORE_PORT}/"):
            wait_for_answer(url)
        known = {"KUBECONFIG": str(kubeconfig), "CHAOSGATE_TEST_IMAGE": IMAGE, "MLFLOW_TRACKING_URI": mlflow}
        return subprocess.run(command, env={**os.environ, **known}, check=False).returncode


def load_image() -> None:
    """Build chaosgate's image as users do, and hand it to the cluster's nodes."""
    subprocess.run(["make", "image", "BUILDER=docker", f"IMAGE={IMAGE}"], cwd=ROOT, check=True)
    subprocess.run(["kind", "load", "docker-image", IMAGE, "--name", CLUSTER], check=True)


def gateway() -> str:
    """This machine's address as the cluster's nodes and pods see it."""
    shown = ["docker", "network", "inspect", "kind", "--format", "{{range .IPAM.Config}}{{.Gateway}} {{end}}"]
    found = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.split()
    return next(address for address in found if ":" not in address)


@contextmanager
def process(command: list[str], folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[None]:
    """A process that runs for a while."""
    with subprocess.Popen(command, cwd=folder, env={**os.environ, **(settings or {})}) as started:
        try:
            yield
        finally:
            started.terminate()


def install_argo(api: Api, address: str) -> None:
    """Argo as its release installs it, with its kinds in full form and the store on this machine."""
    release = requests.get(INSTALL, timeout=60)
    release.raise_for_status()
    namespace, configuration = argo_configuration(address)
    for document in (namespace, *argo_definitions(), *of_release(release.text), configuration):
        api.apply(document)
    wait_for(lambda: is_available(api), "Argo's controller", SECONDS)


def of_release(text: str) -> Iterator[dict[str, Any]]:
    """What of a release's manifests is needed besides Argo's kinds and configuration: the controller and its rights."""
    others = ("CustomResourceDefinition", "PriorityClass")
    for document in yaml.safe_load_all(text):
        metadata = document["metadata"]
        if document["kind"] in others or "argo-server" in metadata["name"] or metadata["name"].endswith("-configmap"):
            continue
        if document["kind"] in (
            "ServiceAccount",
            "Role",
            "RoleBinding",
            "ConfigMap",
            "Deployment",
            "Service",
            "Secret",
        ):
            metadata.setdefault("namespace", NAMESPACE)
        if document["kind"] == "Deployment":
            document["spec"]["template"]["spec"].pop("priorityClassName", None)
        yield document


def is_available(api: Api) -> bool:
    """Whether the controller runs."""
    found = api.get(api.path("apps/v1", "Deployment", NAMESPACE, CONTROLLER))
    return bool((found or {}).get("status", {}).get("availableReplicas"))


def wait_for_answer(url: str) -> None:
    """Return once something answers there."""

    def answers() -> bool:
        try:
            return bool(requests.get(url, timeout=5).status_code < 500)
        except requests.RequestException:
            return False

    wait_for(answers, url, SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
