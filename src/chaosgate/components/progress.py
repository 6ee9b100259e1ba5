"""How a step tells a person what it does: one JSON object a line on standard output, all else on standard error."""

from __future__ import annotations

import json
import math
import sys
from typing import Any


def tell(event: str, **fields: Any) -> None:
    """Print one progress line; numbers that are not finite become null."""
    clean = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in fields.items()
    }
    print(json.dumps({"event": event, **clean}), flush=True, file=sys.stdout)


def heard(line: str) -> dict[str, Any] | None:
    """The progress a line carries, None for any other line."""
    if not line.startswith('{"event"'):
        return None
    try:
        data: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return data
