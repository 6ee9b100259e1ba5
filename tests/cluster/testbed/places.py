"""Where built things are kept, and the addresses and versions of a test cluster."""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BINARIES = HERE.parent / "binaries"
"""Go modules, one folder a build."""

KUBERNETES = "v1.34.4"
ARGO = "v3.7.18"

NODE_ADDRESS = "172.30.0.1"
"""The node on the bridge of its pods: API server, DNS, store and MLflow serve here."""
POD_RANGE = "172.30.0.0/24"
SERVICE_RANGE = "10.96.0.0/16"
HOST_LINK = ("172.30.255.1", "172.30.255.2")
"""The two ends of the link between this machine and the node."""
API_PORT, STORE_PORT, MLFLOW_PORT = 6443, 9000, 5000
BUCKET = "artifacts"


def cache() -> Path:
    """Where binaries and images are kept between runs: $CHAOSGATE_CLUSTER_CACHE, else below ~/.cache."""
    return Path(os.environ.get("CHAOSGATE_CLUSTER_CACHE", "~/.cache/chaosgate-cluster")).expanduser()
