"""The first process of a node: hides this machine's own places, then takes in processes that lost their parent.

    python init.py FOLDER

In the node's own mount namespace, so that it all ends with the node: what Kubernetes writes to fixed places lands in
FOLDER, and what it sets of the kernel is not set. FOLDER/hidden is there once that is done.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

VAR = Path("/var")
"""The kubelet, the proxy and the network plug-ins write below /var/lib and /var/log, wherever they are told to."""
TUNABLES = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)
"""The kubelet sets these for the whole machine: k8s.io/kubernetes, pkg/kubelet/cm/container_manager_linux.go."""


def mount(*words: str | Path) -> None:
    """Run `mount WORDS`."""
    subprocess.run(["mount", *map(str, words)], check=True)


def hide(folder: Path) -> None:
    """Put copies of the node's own in front of this machine's places."""
    # Kubelet hands mounts on to containers, which only a shared tree does.
    mount("--make-rshared", "/")
    upper, work = folder / "var" / "upper", folder / "var" / "work"
    for one in (upper, work):
        one.mkdir(parents=True)
    mount("-t", "overlay", "overlay", "-o", f"lowerdir={VAR},upperdir={upper},workdir={work}", VAR)
    mount("-t", "tmpfs", "tmpfs", "/run")
    for name in TUNABLES:
        real = Path("/proc/sys") / name
        own = folder / "sys" / name
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(real.read_text())
        mount("--bind", own, real)


def main() -> None:
    """Hide, say so, and wait to be killed."""
    folder = Path(sys.argv[1])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hide(folder)
    (folder / "hidden").touch()
    while True:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)
            continue
        time.sleep(0.2)


if __name__ == "__main__":
    main()
