"""What the servers that a run starts have in common: listening sockets, addresses, a lifetime."""

from __future__ import annotations

import argparse
import errno
import math
import socket

from chaosgate.errors import UsageError

BACKLOG = 1024
"""Connections that may wait to be accepted: an open loop sends on while a server stalls."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, on any free port for 0; a UsageError says why the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {_authority(host, port)}: {_reason(error)}") from error


def url_of(listener: socket.socket) -> str:
    """The `http://` URL at which `listener` is reached, without a slash at the end."""
    host, port = listener.getsockname()[:2]
    return f"http://{_authority(host, port)}"


def lifetime_argument(text: str) -> float:
    """The argument of `--lifetime`: seconds above 0, after which a server ends by itself."""
    seconds = float(text)
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"a lifetime is a number of seconds above 0, got {text!r}")
    return seconds


def _reason(error: OSError | OverflowError) -> str:
    if isinstance(error, OverflowError):
        return "a port is a number from 0 to 65535"
    if error.errno == errno.EADDRINUSE:
        return "address already in use; choose another port, or 0 for any free one"
    return (error.strerror or str(error)).lower()


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
