"""The run's clock: seconds since the gateway started."""

from __future__ import annotations

import time


class Clock:
    """Monotonic seconds since this clock was made. Every stamp of a run is read here and nowhere else."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def now(self) -> float:
        """Seconds since the start; never goes back."""
        return time.monotonic() - self._start
