"""How much the server bears with from one client."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes, times in seconds.

    `body_bytes` is several times what the longest prompt that fits takes. A body from `inline_bytes` on is read in a
    thread, for tokenising it takes longer than a decoding step. A request must have sent its head within `idle_seconds`
    and its body within `body_seconds`. A client that takes nothing of its stream for `write_seconds` is cut
    off, at the latest after twice as long; until then the server holds at most its `max_tokens` for it.
    """

    body_bytes: int = 256 * KIB
    inline_bytes: int = 4 * KIB
    idle_seconds: float = 75.0
    body_seconds: float = 30.0
    write_seconds: float = 30.0


LIMITS = Limits()
"""Those of a server that is told nothing else."""
