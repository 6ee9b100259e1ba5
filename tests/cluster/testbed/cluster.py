"""A whole test cluster, up and down: `python -m testbed.cluster up|down|build`."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from testbed.build import build_all
from testbed.control_plane import PAUSE_IMAGE, containerd_socket, start_kubernetes
from testbed.images import binary_image
from testbed.node import Node, NodeError, start_node, stop_node
from testbed.places import cache
from testbed.services import EXECUTOR_IMAGE, start_argo, start_dns, start_mlflow, start_store, wait_for_mlflow

NEEDED = ("containerd", "runc", "openssl", "iptables", "conntrack", "nsenter", "unshare", "go", "podman")
CNI = Path("/usr/lib/cni/bridge")
PACKAGES = "containerd runc containernetworking-plugins iptables conntrack openssl iproute2 podman"


@dataclass
class Cluster:
    """A cluster that runs: how it is reached, and how MLflow is reached from pods."""

    node: Node
    kubeconfig: Path
    mlflow: str


def why_not() -> str | None:
    """Why no cluster can run here; None when one can."""
    if os.geteuid() != 0:
        return "a test cluster needs root: it makes namespaces, bridges and mounts"
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing or not CNI.exists():
        return f"a test cluster needs {', '.join(missing) or 'the CNI plug-ins'}; apt-get install {PACKAGES}"
    return None


@contextmanager
def cluster(images: dict[str, Path]) -> Iterator[Cluster]:
    """A cluster with `images` (name to docker-archive) on its node; all of it is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="chaosgate-cluster-"))
    node = start_node(folder)
    try:
        yield bring_up(node, images)
    except NodeError:
        for part in node.parts:
            print(f"--- {part}\n{node.last_words(part)}", file=sys.stderr)
        raise
    finally:
        stop_node(node)


def bring_up(node: Node, images: dict[str, Path]) -> Cluster:
    """Everything, in the order in which it is needed."""
    binaries = build_all()
    mlflow = start_mlflow(node)
    kubeconfig = start_kubernetes(node, binaries)
    for name, archive in {**own_images(binaries), **images}.items():
        load_image(node, name, archive)
    start_dns(node, binaries)
    start_store(node, binaries)
    start_argo(node, binaries, kubeconfig)
    wait_for_mlflow(node)
    return Cluster(node, kubeconfig, mlflow)


def own_images(binaries: Path) -> dict[str, Path]:
    """Pause and Argo's executor, each one binary in an empty image."""
    folder = cache() / "images"
    pause, executor = folder / "pause.tar", folder / "argoexec.tar"
    binary_image(pause, PAUSE_IMAGE, {"pause": binaries / "pause"}, ["/pause"])
    binary_image(executor, EXECUTOR_IMAGE, {"bin/argoexec": binaries / "argoexec"}, ["argoexec"])
    return {PAUSE_IMAGE: pause, EXECUTOR_IMAGE: executor}


def load_image(node: Node, name: str, archive: Path) -> None:
    """Hand an image to containerd, as there is no registry."""
    node.run("ctr", "--address", containerd_socket(node), "-n", "k8s.io", "images", "import", archive)


def main() -> None:
    """Hold a cluster until interrupted, for a person to look at."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["build", "up"])
    words = parser.parse_args()
    if words.action == "build":
        print(build_all())
        return
    reason = why_not()
    if reason:
        sys.exit(reason)
    begun = time.monotonic()
    with cluster({}) as up:
        print(json.dumps({"kubeconfig": str(up.kubeconfig), "mlflow": up.mlflow, "s": time.monotonic() - begun}))
        sys.stdout.flush()
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
