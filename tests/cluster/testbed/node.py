"""The node: namespaces of its own with a link to this machine, and the processes that run in them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chaosgate.deploy.processes import register
from testbed.leftovers import HOLDER, INIT, make_cgroups, remove_cgroups
from testbed.places import HERE, HOST_LINK, LINK, NODE_ADDRESS, POD_RANGE, SERVICE_RANGE

BRIDGE_FILTER = Path("/proc/sys/net/bridge")
"""There where the kernel can have packets between the ports of a bridge pass its filters, which Services need."""
BRIDGE_ADDRESS = "02:00:00:00:00:01"
NAMESPACES = ("--net", "--mount", "--pid")


class NodeError(Exception):
    """The node or one of its parts did not come up."""


@dataclass
class Node:
    """A node that runs. `folder` holds everything it writes."""

    folder: Path
    init: subprocess.Popen[bytes]
    parts: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def pid(self) -> int:
        """The node's first process as this machine numbers it."""
        return children_of(self.init.pid)[0]

    def start(self, name: str, *command: str | Path, env: Mapping[str, str] | None = None) -> None:
        """Start a part of the node; it logs to `<folder>/log/<name>.log` and works in the folder."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        with (self.folder / "log" / f"{name}.log").open("ab") as output:
            self.parts[name] = subprocess.Popen(
                self.command(*command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                cwd=self.folder,
                env={**os.environ, "TMPDIR": str(temporary), **(env or {})},
            )

    def command(self, *command: str | Path) -> list[str]:
        """The command line that runs `command` on the node."""
        return ["nsenter", "--target", str(self.pid), *NAMESPACES, "--", *map(str, command)]

    def run(self, *command: str | Path) -> str:
        """Run a command on the node to its end; its output."""
        done = subprocess.run(self.command(*command), capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise NodeError(f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def stop_part(self, name: str) -> None:
        """Kill one part; its children stay."""
        part = self.parts.pop(name)
        # nsenter waits for what it started and passes nothing on: the part itself is its one child.
        for child in children_of(part.pid):
            os.kill(child, signal.SIGKILL)
        part.wait()

    def last_words(self, name: str, lines: int = 15) -> str:
        """The end of a part's log."""
        log = self.folder / "log" / f"{name}.log"
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else "(no log)"

    def check(self) -> None:
        """A NodeError when a part has ended by itself."""
        for name, part in list(self.parts.items()):
            if part.poll() is not None:
                raise NodeError(f"{name} ended with exit code {part.returncode}:\n{self.last_words(name)}")


def children_of(pid: int) -> list[int]:
    """The direct children of a process."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def start_node(folder: Path) -> Node:
    """A node with loopback, a bridge for its pods and a link to this machine; it ends with the thread that made it."""
    register(folder, HOLDER, os.getpid())
    (folder / "log").mkdir()
    die_with_parent = ["setpriv", "--pdeathsig", "KILL"]
    unshare = ["unshare", *NAMESPACES, "--fork", "--mount-proc", "--kill-child", "--propagation", "private"]
    with (folder / "log" / "init.log").open("ab") as log:
        init = subprocess.Popen(
            [*die_with_parent, *unshare, sys.executable, "-I", str(HERE / "init.py"), str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    register(folder, INIT, init.pid)
    node = Node(folder, init, {INIT: init})
    wait_for(lambda: is_hidden(node), "the node's first process", 20)
    make_cgroups(folder.name)
    link_up(node)
    return node


def is_hidden(node: Node) -> bool:
    """Whether the node's mounts are its own by now."""
    node.check()
    return (node.folder / "hidden").exists()


def link_up(node: Node) -> None:
    """The network inside the node and the link to this machine; all of it goes with the node's namespace."""
    here, there = HOST_LINK
    ip = shutil.which("ip") or "/sbin/ip"
    if not BRIDGE_FILTER.is_dir():
        subprocess.run(["modprobe", "br_netfilter"], check=True)
    node.run(ip, "link", "set", "lo", "up")
    # Without an address of its own a bridge takes one of its ports', another one as pods come and go: the other pods
    # then send to the old one until they ask anew, up to half a minute later.
    node.run(ip, "link", "add", "cni0", "address", BRIDGE_ADDRESS, "type", "bridge")
    node.run(ip, "addr", "add", f"{NODE_ADDRESS}/24", "dev", "cni0")
    node.run(ip, "link", "set", "cni0", "up")
    for setting in ("ipv4/ip_forward", "bridge/bridge-nf-call-iptables"):
        node.run("sh", "-c", f"echo 1 > /proc/sys/net/{setting}")
    link = [ip, "link", "add", LINK, "type", "veth", "peer", "name", "eth0", "netns", str(node.pid)]
    subprocess.run(link, check=True)
    subprocess.run([ip, "addr", "add", f"{here}/30", "dev", LINK], check=True)
    subprocess.run([ip, "link", "set", LINK, "up"], check=True)
    node.run(ip, "addr", "add", f"{there}/30", "dev", "eth0")
    node.run(ip, "link", "set", "eth0", "up")
    # What a pod's port or a Service has to be reached at from the tests, the node passes on.
    node.run(ip, "route", "add", "default", "via", here)
    for reached in (POD_RANGE, SERVICE_RANGE):
        subprocess.run([ip, "route", "add", reached, "via", there], check=True)


def stop_node(node: Node) -> None:
    """End everything on the node and remove what it wrote. Nothing of it is kept, so nothing is asked to end well."""
    # The kernel takes away the link of a namespace that is gone, but some time later.
    subprocess.run([shutil.which("ip") or "/sbin/ip", "link", "del", LINK], capture_output=True, check=False)
    node.init.kill()
    for part in node.parts.values():
        part.wait()
    remove_cgroups(node.folder.name)
    shutil.rmtree(node.folder)


def wait_for(look: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Return once `look()` is true; a NodeError after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if look():
            return
        time.sleep(0.1)
    raise NodeError(f"{what} did not come within {seconds:.0f} s")
