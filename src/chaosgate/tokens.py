"""The tokens of a run: its gateway's, which a key gives where no file is shared, and its engine's, which that gives."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

from chaosgate.errors import UsageError

KEY_VARIABLE = "CHAOSGATE_GATEWAY_KEY"
"""The environment variable from which the steps and the gateway of a run on a cluster derive its admin token."""


def run_token(key: str, run: str) -> str:
    """The admin token of `run` under `key`: HMAC-SHA-256 (RFC 2104) in hex. It tells nothing of the key."""
    return hmac.new(key.encode(), f"chaosgate gateway {run}".encode(), hashlib.sha256).hexdigest()


def engine_token(admin: str) -> str:
    """The token that an engine wants to see before it carries faults, from the admin token of the gateway before it.

    Derived as that of a run is: who has it cannot switch the gateway's faults.
    """
    return hmac.new(admin.encode(), b"chaosgate engine", hashlib.sha256).hexdigest()


def token_digest(token: str) -> str:
    """By what an engine knows `token` without having it: its SHA-256 in hex. The token cannot be had from it."""
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


def read_token_file(path: Path) -> str:
    """The token in `path`, without the space around it; a UsageError when there is none that a header can carry."""
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not ASCII"
        raise UsageError(f"{path}: the admin token cannot be read: {cause}") from error
    if not token or any(sign.isspace() or not sign.isprintable() for sign in token):
        raise UsageError(f"{path}: holds no admin token; one line of printable signs without spaces is needed")
    return token


def token_under(variable: str, run: str) -> str:
    """The run's token under the key in the environment variable; a UsageError when there is none."""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"environment variable {variable}: holds no key from which the admin token could be derived")
    return run_token(key, run)
