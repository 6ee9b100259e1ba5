"""The token of a run's gateway where no file is shared: derived by everyone who holds the same key."""

from __future__ import annotations

import hashlib
import hmac

KEY_VARIABLE = "CHAOSGATE_GATEWAY_KEY"
"""The environment variable from which the steps and the gateway of a run on a cluster derive its admin token."""


def run_token(key: str, run: str) -> str:
    """The admin token of `run` under `key`: HMAC-SHA-256 (RFC 2104) in hex. It tells nothing of the key."""
    return hmac.new(key.encode(), f"chaosgate gateway {run}".encode(), hashlib.sha256).hexdigest()
