"""What a run ran on: versions and platform, for record and report. No environment variable is among them."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version

from chaosgate import __version__

PACKAGES = ("aiohttp", "numpy", "scipy", "pydantic", "mlflow", "mlflow-skinny", "kubernetes")


def environment() -> dict[str, str]:
    """Name to version or description; what is not installed is left out, and `git` outside a repository."""
    found = {
        "chaosgate": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "cpus": str(os.cpu_count()),
    }
    if commit := git_commit():
        found["git"] = commit
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def git_commit() -> str | None:
    """The commit of the working directory, with `-dirty` when it differs; None outside a repository."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
