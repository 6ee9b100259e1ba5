"""Where built things are kept, and the addresses and versions of a test cluster."""

from __future__ import annotations

import os
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BINARIES = HERE.parent / "binaries"
"""Go modules, one folder a build."""

KUBERNETES = "v1.34.4"
ARGO = "v3.7.18"

SUBNET_VARIABLE = "CHAOSGATE_TESTBED_SUBNET"
API_PORT, STORE_PORT, MLFLOW_PORT = 6443, 9000, 5000
BUCKET = "artifacts"


def subnet() -> str:
    """The first two numbers of every address of the cluster; another one makes room for a second cluster."""
    found = os.environ.get(SUBNET_VARIABLE, "172.30")
    if not re.fullmatch(r"(10|172|192)\.\d{1,3}", found) or int(found.partition(".")[2]) > 255:
        raise ValueError(
            f"{SUBNET_VARIABLE}: read {found!r}; the first two numbers of a private network are allowed, such as 172.31"
        )
    return found


SUBNET = subnet()
NODE_ADDRESS = f"{SUBNET}.0.1"
"""The node on the bridge of its pods: API server, DNS, store and MLflow serve here."""
POD_RANGE = f"{SUBNET}.0.0/24"
SERVICE_RANGE = f"{SUBNET}.64.0/18"
HOST_LINK = (f"{SUBNET}.255.1", f"{SUBNET}.255.2")
"""The two ends of the link between this machine and the node."""
LINK_PREFIX = "cgtest"
LINK = f"{LINK_PREFIX}{SUBNET}"
"""What this machine calls its end; Linux takes 15 characters."""


def cache() -> Path:
    """Where binaries and images are kept between runs: $CHAOSGATE_CLUSTER_CACHE, else below ~/.cache."""
    return Path(os.environ.get("CHAOSGATE_CLUSTER_CACHE", "~/.cache/chaosgate-cluster")).expanduser()
