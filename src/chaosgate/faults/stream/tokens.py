"""What faults of single tokens share: whom they hit. A token is an event of the stream that adds text."""

from __future__ import annotations

from chaosgate.draws import Draw
from chaosgate.model.stream_edit import StreamEditor


class TokenEditor(StreamEditor):
    """Edits a stream token by token; `share` is the probability with which each is hit."""

    def __init__(self, share: float, draw: Draw) -> None:
        self._share = share
        self._draw = draw
        self._hits = 0
        self.missed = "no token was hit" if share > 0 else "dose 0"

    def hit(self, place: int) -> bool:
        """Whether what stands at `place` is hit; what a small share hits, a larger one hits too."""
        return self._draw.at(f"token {place}") < self._share

    def note(self, done: str) -> None:
        """Count one more token as edited; `done` says what was done to it, such as `dropped`."""
        self._hits += 1
        self.effect = f"{self._hits} tokens {done}"
