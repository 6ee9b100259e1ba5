"""One cluster at a time and nothing of an earlier one: who holds a cluster is written down in its folder."""

from __future__ import annotations

import shutil
import socket
import struct
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chaosgate.deploy.processes import alive, elsewhere, registered, stop
from testbed.places import LINK, SUBNET, SUBNET_VARIABLE

PREFIX = "chaosgate-cluster-"
"""How a cluster's folder below the folder for temporary files begins."""
HOLDER, INIT = "holder", "init"
"""Roles under which a cluster's folder has the process that holds it, and the first one of its node."""
CGROUPS = Path("/sys/fs/cgroup")
LINK_SECONDS = 10.0
"""The kernel takes away the link of a namespace that is gone, in its own time."""
GROUP_SECONDS = 5.0
"""Processes that were killed leave their control group a moment later."""


class ClusterTaken(Exception):
    """Another test cluster has the addresses that this one wants."""


@contextmanager
def claimed(subnet: str = SUBNET) -> Iterator[None]:
    """The cluster's addresses for this process alone; a ClusterTaken names the process that has them."""
    # A name in this machine's network namespace, which the addresses are in as well; it ends with the process.
    name = f"\0chaosgate-testbed-{subnet}"
    with socket.socket(socket.AF_UNIX) as claim:
        try:
            claim.bind(name)
        except OSError as error:
            raise ClusterTaken(
                f"a test cluster at {subnet}.0.0/16 runs already, held by process {holder_of(name)}; wait for its "
                f"end, or set {SUBNET_VARIABLE} to other addresses, such as 172.31"
            ) from error
        claim.listen()
        yield


def holder_of(name: str) -> int:
    """The process that listens at a Unix socket."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(name)
        credentials = asked.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[0])


def remove_leftovers() -> list[Path]:
    """Take away every cluster whose holder is gone; the folders that were removed."""
    return [folder for folder in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")) if remove_leftover(folder)]


def remove_leftover(folder: Path) -> bool:
    """Take away the cluster in `folder`, unless its holder lives or nobody knows: True when it was taken away."""
    processes = {process.role: process for process in registered(folder)}
    holder, init = processes.get(HOLDER), processes.get(INIT)
    if holder is None or alive(holder) or elsewhere(holder):
        return False
    if init is not None:
        stop(init, grace=1.0)
    remove_cgroups(folder.name)
    shutil.rmtree(folder)
    return True


def wait_for_link() -> None:
    """Return once no link has the name of this cluster's."""
    deadline = time.monotonic() + LINK_SECONDS
    while (Path("/sys/class/net") / LINK).exists():
        if time.monotonic() > deadline:
            raise ClusterTaken(f"the network link {LINK} is there and belongs to no test cluster; ip link del {LINK}")
        time.sleep(0.1)


def hierarchies() -> list[Path]:
    """Where control groups are: one root with their version 2, one for each controller with version 1."""
    if (CGROUPS / "cgroup.controllers").exists():
        return [CGROUPS]
    return [path for path in CGROUPS.iterdir() if path.is_dir() and not path.is_symlink()]


def make_cgroups(name: str) -> None:
    """A control group of each kind for a node's pods."""
    for root in hierarchies():
        (root / name).mkdir()


def remove_cgroups(name: str) -> None:
    """The control groups of a node's pods, the only thing that no namespace takes away; their processes were killed."""
    for top in (root / name for root in hierarchies()):
        if top.is_dir():
            for group in (*sorted((path for path in top.rglob("*") if path.is_dir()), reverse=True), top):
                remove_group(group)


def remove_group(group: Path) -> None:
    """Remove a control group, once the last of its processes is gone."""
    deadline = time.monotonic() + GROUP_SECONDS
    while True:
        try:
            group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
