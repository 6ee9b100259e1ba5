"""What this machine looks like from outside a test cluster, to be compared before and after: nothing may differ."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from testbed.init import TUNABLES
from testbed.leftovers import PREFIX, hierarchies
from testbed.places import LINK_PREFIX, SUBNET, cache

Look = Mapping[str, frozenset[str]]
"""Kind of thing to what there is of it."""

FOLDERS = ("/run", "/var/lib", "/var/log", "/etc", "/etc/cni", "/opt", "/usr/libexec")
"""Where the parts of Kubernetes write unless they are kept from it."""
PARTS = re.compile("chaosgate|container|ctr|runc|crun|podman|buildah|kube|etcd|argo|cni|coredns|mlflow", re.IGNORECASE)
"""What the parts of a test cluster call their temporary files; those of other programs come and go as they like."""
BESIDE = re.compile(rf"({PREFIX}|{LINK_PREFIX})(?!{re.escape(SUBNET)}\b)")
"""What names the folder or the link of a test cluster at other addresses."""
NAMESPACES = ("net", "mnt", "pid")


def look() -> Look:
    """This machine now."""
    temporary = Path(tempfile.gettempdir())
    return {
        "mount": frozenset(mounts()),
        "link": frozenset(path.name for path in Path("/sys/class/net").iterdir()),
        "route": frozenset(said("ip", "route", "show", "table", "all")),
        "iptables rule": frozenset(rules()),
        "control group": frozenset(str(path) for root in hierarchies() for path in entries(root) if path.is_dir()),
        "kernel setting": frozenset(f"{name} = {(Path('/proc/sys') / name).read_text().strip()}" for name in TUNABLES),
        "file": frozenset(str(path) for folder in FOLDERS for path in entries(Path(folder))),
        "temporary file": frozenset(str(path) for path in entries(temporary) if PARTS.search(path.name)),
        "cached file": frozenset(str(path) for path in entries(Path.home() / ".cache") if path != cache()),
    }


def differences(before: Look, after: Look) -> list[str]:
    """A sentence for each thing that came or went, but for what names a test cluster beside this one."""
    found = [
        *(f"{kind} came: {thing}" for kind in after for thing in sorted(after[kind] - before[kind])),
        *(f"{kind} went: {thing}" for kind in before for thing in sorted(before[kind] - after[kind])),
    ]
    return [one for one in found if not BESIDE.search(one)]


def namespaces_of(pid: int) -> frozenset[str]:
    """The namespaces of a process that are not this machine's, such as `net:[4026532]`."""
    own = {os.readlink(f"/proc/self/ns/{name}") for name in NAMESPACES}
    return frozenset(os.readlink(f"/proc/{pid}/ns/{name}") for name in NAMESPACES) - own


def members(namespaces: Iterable[str]) -> list[int]:
    """Every process that is in any of these namespaces."""
    wanted = set(namespaces)
    return [int(found.name) for found in Path("/proc").glob("[0-9]*") if wanted & set(memberships(found))]


def memberships(process: Path) -> Iterator[str]:
    """The namespaces of a process, nothing where it has ended meanwhile."""
    for name in NAMESPACES:
        try:
            yield os.readlink(process / "ns" / name)
        except OSError:
            return


def mounts() -> Iterator[str]:
    """Place and type of every mount of this machine."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, behind = line.partition(" - ")
        yield f"{before.split()[4]} {behind.split()[0]}"


def rules() -> Iterator[str]:
    """Every rule of the packet filters, without its counters; nothing where there is no such filter."""
    for command in ("iptables-save", "ip6tables-save"):
        if shutil.which(command):
            yield from (re.sub(r"\[\d+:\d+\]", "", line) for line in said(command) if not line.startswith("#"))


def said(*command: str) -> list[str]:
    """The lines that a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def entries(folder: Path) -> list[Path]:
    """What is in a folder, nothing where there is none."""
    return list(folder.iterdir()) if folder.is_dir() else []
