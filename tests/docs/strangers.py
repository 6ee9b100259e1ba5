"""Where the strangers' packages are, and the chat that one of them talks to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PACKAGES = Path(__file__).parent / "packages"


@dataclass
class Webhook:
    """A chat on loopback: where to post to, and what was posted."""

    url: str
    posted: list[dict[str, Any]] = field(default_factory=list)
    status: int = 200
    """What it answers."""
