"""A Docker daemon of a test's own: storage, socket and state in a temporary folder, no bridge and no firewall rules."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from image_builder import LIMITS, PATIENCE, said, why_no_image
from small_drill import eventually

PROGRAMS = ("make", "mmdebstrap", "docker", "dockerd", "containerd", "runc", "unshare")
PRIVATE = 'mount --bind "$1/etc" /etc && mount --bind "$1/opt" /opt && shift && exec "$@"'
"""A shell's line: the daemon keeps its key below /etc and containerd a folder below /opt, whatever it is told."""


class Docker:
    """The `docker` command, told to talk to one daemon."""

    def __init__(self, socket: Path) -> None:
        self.env = {**os.environ, "DOCKER_HOST": f"unix://{socket}"}

    def __call__(self, *words: str) -> str:
        """What `docker WORDS` prints; an AssertionError with all it said when it fails."""
        return said(["docker", *words], self.env)

    def answers(self) -> bool:
        """Whether the daemon does."""
        asked = subprocess.run(["docker", "version"], capture_output=True, timeout=PATIENCE, env=self.env)
        return asked.returncode == 0

    def run(self, image: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `image` on a read-only root file system with /tmp."""
        nothing = ("--read-only", "--tmpfs=/tmp", "--network=none", "--cap-drop=all")
        command = ["docker", "run", "--rm", *nothing, *LIMITS, image, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=self.env)


@contextmanager
def own_docker() -> Iterator[Docker]:
    """A daemon that is started here and ended afterwards, with all that it stored."""
    root = Path(tempfile.mkdtemp(prefix="docker-"))
    shutil.copytree("/etc", root / "etc", symlinks=True)
    (root / "opt").mkdir()
    (root / "daemon.json").write_text("{}")
    places = {"data-root": "data", "exec-root": "exec", "pidfile": "pid", "config-file": "daemon.json"}
    command = ["unshare", "--mount", "sh", "-c", PRIVATE, "sh", str(root)]
    command += ["dockerd", "--host", f"unix://{root}/sock", "--bridge=none", "--iptables=false", "--ip6tables=false"]
    command += [f"--{option}={root / place}" for option, place in places.items()]
    with (root / "log").open("w") as log:
        daemon = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    docker = Docker(root / "sock")
    try:
        eventually(lambda: _lives(daemon, root / "log") and docker.answers(), "the Docker daemon")
        yield docker
    finally:
        daemon.terminate()
        daemon.wait(timeout=PATIENCE)
        shutil.rmtree(root)


def why_no_docker() -> str | None:
    """Why no Docker daemon can be started here, for a skip; None when one can."""
    return why_no_image(PROGRAMS)


def _lives(daemon: subprocess.Popen[bytes], log: Path) -> bool:
    """True; an AssertionError with the end of its log when the daemon is gone."""
    assert daemon.poll() is None, f"dockerd ended with {daemon.returncode}:\n{log.read_text()[-4000:]}"
    return True
