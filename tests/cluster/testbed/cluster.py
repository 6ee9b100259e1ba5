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
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from image_builder import cache_folder, image_archive, why_no_image

from testbed.api import Api
from testbed.build import argo_definitions, build_all
from testbed.control_plane import (
    PAUSE_IMAGE,
    containerd_socket,
    node_ready,
    start_containerd,
    start_control_plane,
    start_kubelet,
)
from testbed.images import binary_image
from testbed.leftovers import PREFIX, claimed, remove_leftovers, wait_for_link
from testbed.node import Node, NodeError, start_node, stop_node, wait_for
from testbed.places import SUBNET, cache
from testbed.services import (
    EXECUTOR_IMAGE,
    define_argo,
    start_argo,
    start_dns,
    start_mlflow,
    start_store,
    wait_for_mlflow,
)

IMAGE = "localhost/chaosgate:test"
"""chaosgate's own image on the node: `localhost` is asked of no registry, and only `latest` would be pulled anew."""
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
    return why_no_image()


@contextmanager
def cluster(images: Mapping[str, Path]) -> Iterator[Cluster]:
    """A cluster with `images` (name to docker-archive) on its node; all of it is gone afterwards.

    A ClusterTaken says who has its addresses. What an earlier one left that was killed is taken away first.
    """
    with claimed():
        for folder in remove_leftovers():
            print(f"took away {folder}, which was left by a test cluster that was killed", file=sys.stderr)
        wait_for_link()
        node = start_node(Path(tempfile.mkdtemp(prefix=f"{PREFIX}{SUBNET}-")))
        try:
            yield bring_up(node, images)
        except NodeError:
            for part in node.parts:
                print(f"--- {part}\n{node.last_words(part)}", file=sys.stderr)
            raise
        finally:
            stop_node(node)


def bring_up(node: Node, images: Mapping[str, Path]) -> Cluster:
    """Everything, side by side where one thing does not need the other."""
    binaries = build_all()
    mlflow = start_mlflow(node)
    start_containerd(node)
    with ThreadPoolExecutor() as beside:
        loaded = [beside.submit(load_image, node, archive) for archive in (*own_images(binaries), *images.values())]
        kubeconfig = start_control_plane(node, binaries)
        start_kubelet(node, binaries)
        defined = beside.submit(define_argo, kubeconfig, argo_definitions())
        start_dns(node, binaries)
        start_store(node, binaries)
        api = Api(kubeconfig)
        wait_for(lambda: node_ready(node, api), "a ready node", 90)
        for task in (*loaded, defined):
            task.result()
    start_argo(node, binaries)
    wait_for_mlflow(node)
    return Cluster(node, kubeconfig, mlflow)


def own_images(binaries: Path) -> Iterator[Path]:
    """Pause and Argo's executor, each one binary in an empty image; made again when the binary was."""
    folder = cache() / "images"
    pause, executor = folder / "pause.tar", folder / "argoexec.tar"
    yield binary_image(pause, PAUSE_IMAGE, {"pause": binaries / "pause"}, ["/pause"])
    yield binary_image(executor, EXECUTOR_IMAGE, {"bin/argoexec": binaries / "argoexec"}, ["argoexec"])


def load_image(node: Node, archive: Path) -> None:
    """Hand an image to containerd, as there is no registry."""
    node.run("ctr", "--address", containerd_socket(node), "-n", "k8s.io", "images", "import", archive)


def build() -> Mapping[str, Path]:
    """Build what is not built yet of the cluster; chaosgate's image for it, by its name."""
    build_all()
    return {IMAGE: image_archive(IMAGE, cache_folder())}


def why_unneeded(reason: str | None) -> str | None:
    """Why the tests take no cluster that is built here; `reason` is why none can run."""
    return "KUBECONFIG names the cluster" if os.environ.get("KUBECONFIG") else reason


def main() -> None:
    """Hold a cluster until interrupted, for a person to look at."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["build", "up"])
    words = parser.parse_args()
    reason = why_not()
    if words.action == "build":
        print(f"nothing is built: {unneeded}" if (unneeded := why_unneeded(reason)) else build())
        return
    if reason:
        sys.exit(reason)
    begun, ends = time.monotonic(), {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    with cluster(build()) as up:
        print(json.dumps({"kubeconfig": str(up.kubeconfig), "mlflow": up.mlflow, "s": time.monotonic() - begun}))
        sys.stdout.flush()
        signal.sigwait(ends)


if __name__ == "__main__":
    main()
