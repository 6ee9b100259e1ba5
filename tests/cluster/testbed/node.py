"""The node: namespaces of its own with a link to this machine, and the processes that run in them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from testbed.places import HERE, HOST_LINK, NODE_ADDRESS, POD_RANGE, SERVICE_RANGE

NAMESPACES = ("--net", "--mount", "--pid")
LINK = "cgtest0"
GRACE = 20.0
"""Seconds the parts have to end by themselves before the node's first process is killed."""


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
        children = Path(f"/proc/{self.init.pid}/task/{self.init.pid}/children").read_text().split()
        return int(children[0])

    def start(self, name: str, *command: str | Path, env: Mapping[str, str] | None = None) -> None:
        """Start a part of the node; it logs to `<folder>/log/<name>.log`."""
        log = self.folder / "log" / f"{name}.log"
        with log.open("ab") as output:
            self.parts[name] = subprocess.Popen(
                self.command(*command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env={**os.environ, **(env or {})},
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
        """End one part; its children stay."""
        part = self.parts.pop(name)
        # nsenter waits for what it started and passes nothing on: the part itself is its one child.
        for child in children_of(part.pid):
            os.kill(child, signal.SIGTERM)
        part.wait(GRACE)

    def last_words(self, name: str, lines: int = 15) -> str:
        """The end of a part's log."""
        log = self.folder / "log" / f"{name}.log"
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else "(no log)"

    def check(self) -> None:
        """A NodeError when a part has ended by itself."""
        for name, part in self.parts.items():
            if part.poll() is not None:
                raise NodeError(f"{name} ended with exit code {part.returncode}:\n{self.last_words(name)}")


def children_of(pid: int) -> list[int]:
    """The direct children of a process."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def start_node(folder: Path) -> Node:
    """A node with loopback, the bridge of its pods and a link to this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    unshare = ["unshare", *NAMESPACES, "--fork", "--mount-proc", "--kill-child", "--propagation", "private"]
    (folder / "log").mkdir()
    with (folder / "log" / "init.log").open("ab") as log:
        init = subprocess.Popen(
            [*unshare, sys.executable, str(HERE / "init.py")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    node = Node(folder, init)
    wait_for(lambda: bool(children_of(init.pid)), "the node's first process")
    link_up(node)
    return node


def link_up(node: Node) -> None:
    """The network inside the node and the link to this machine; all of it goes with the node's namespace."""
    here, there = HOST_LINK
    ip = shutil.which("ip") or "/sbin/ip"
    subprocess.run([ip, "link", "del", LINK], capture_output=True, check=False)
    node.run(ip, "link", "set", "lo", "up")
    node.run(ip, "link", "add", "cni0", "type", "bridge")
    node.run(ip, "addr", "add", f"{NODE_ADDRESS}/24", "dev", "cni0")
    node.run(ip, "link", "set", "cni0", "up")
    node.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
    node.run("sh", "-c", "echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables")
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
    """End everything on the node and remove what it wrote."""
    for name in list(reversed(node.parts)):
        for child in children_of(node.parts[name].pid):
            os.kill(child, signal.SIGTERM)
    deadline = time.monotonic() + GRACE
    while time.monotonic() < deadline and any(part.poll() is None for part in node.parts.values()):
        time.sleep(0.1)
    # The kernel kills whatever is left in the namespaces with their first process.
    for child in children_of(node.init.pid):
        os.kill(child, signal.SIGKILL)
    node.init.wait()
    for part in node.parts.values():
        part.wait()
    remove_cgroups(node.folder.name)
    shutil.rmtree(node.folder, ignore_errors=True)


def remove_cgroups(name: str) -> None:
    """The control groups of the node's pods: the only thing that no namespace takes away."""
    for hierarchy in Path("/sys/fs/cgroup").iterdir():
        root = hierarchy / name
        for group in sorted(root.rglob("*"), reverse=True) if root.is_dir() else ():
            if group.is_dir():
                group.rmdir()
        if root.is_dir():
            root.rmdir()


def wait_for(look: object, what: str, seconds: float = 60.0) -> None:
    """Return once `look()` is true; a NodeError after `seconds`."""
    assert callable(look)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if look():
            return
        time.sleep(0.1)
    raise NodeError(f"{what} did not come within {seconds:.0f} s")
