"""Stop strings in a text that arrives in pieces."""

from __future__ import annotations

from collections.abc import Sequence


class StopScanner:
    """Passes text on until a stop string appears in it.

    The stop string itself is never passed on, also when it is spread over pieces: text that could be its beginning is
    held until that is decided.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""

    def push(self, text: str) -> tuple[str, bool]:
        """The text that may be shown now, and whether a stop string was met (then all after it is dropped)."""
        if not self._stops:
            return text, False
        text = self._held + text
        hits = [at for at in map(text.find, self._stops) if at >= 0]
        if hits:
            self._held = ""
            return text[: min(hits)], True
        keep = self._undecided(text)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep], False

    def flush(self) -> str:
        """What was held, once no more text comes."""
        held, self._held = self._held, ""
        return held

    def _undecided(self, text: str) -> int:
        longest = max(map(len, self._stops)) - 1
        for size in range(min(longest, len(text)), 0, -1):
            if any(stop.startswith(text[-size:]) for stop in self._stops):
                return size
        return 0
