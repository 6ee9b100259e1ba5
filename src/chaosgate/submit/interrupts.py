"""Ctrl-C and SIGTERM while a run elsewhere is waited for: they are noted, and end nothing by themselves."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Within it the signals that end a command are counted instead; a wait ends when one comes."""

    def __init__(self) -> None:
        self.signal: int | None = None
        """The first signal that came."""
        self.count = 0
        self._came = threading.Event()
        self._before: dict[signal.Signals, Any] = {}

    @property
    def again(self) -> bool:
        """Whether a second one came: whoever sends it does not want to wait any longer."""
        return self.count > 1

    def __enter__(self) -> Interrupts:
        self._before = {number: signal.signal(number, self._note) for number in ENDING}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def wait(self, seconds: float) -> None:
        """Return after `seconds`, or as soon as a signal comes."""
        self._came.wait(seconds)
        self._came.clear()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or number
        self.count += 1
        self._came.set()
