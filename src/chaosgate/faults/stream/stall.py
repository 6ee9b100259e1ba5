"""stream.stall: the answer pauses once between two tokens."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.model.fault import FAULTS, Sweep, WireFault, Witness
from chaosgate.model.observation import Observation
from chaosgate.model.stream_edit import Pause, Step, StreamEditor, StreamEvent
from chaosgate.units import Duration


@FAULTS.register("stream.stall")
class StreamStall(WireFault):
    """A server that stops in the middle of its answer: the stream pauses once for `pause`, then goes on."""

    kind: Literal["stream.stall"]
    after: Annotated[int, Field(ge=1, le=100_000)] = 2
    """Tokens (events that add text) that are passed on before the pause; a shorter answer has none."""
    dose: Sweep[Literal["pause"], Duration]

    max_dose: ClassVar[float] = 60.0

    def editor(self, dose: float, draw: Draw) -> StreamEditor:
        """One pause of `dose` seconds; none at dose 0."""
        return PauseAfter(self.after, dose)

    def witness(self, dose: float) -> Witness:
        """The client waits for the rest of an answer that began; half of the planned pause must show in the mean."""
        what = "mean longest gap after the first token"
        unless = f"an answer of up to {self.after} tokens does not pause, and longer gaps of the server's own hide it"
        return Witness(what, "duration", self.least_rise(dose), _longest_gap, unless)


class PauseAfter(StreamEditor):
    """Passes on so many tokens and holds the next one for so many seconds."""

    def __init__(self, after: int, seconds: float) -> None:
        self._left = after
        self._seconds = seconds
        self.missed = "the answer is too short" if seconds > 0 else "dose 0"

    def event(self, event: StreamEvent) -> Sequence[Step]:
        """The event as it is, or after the pause."""
        if not event.text:
            return (event.raw,)
        self._left -= 1
        if self._left != -1 or self._seconds == 0:
            return (event.raw,)
        self.effect = f"paused {self._seconds:.3f} s"
        return Pause(self._seconds), event.raw


def _longest_gap(seen: Observation) -> float | None:
    """Seconds between two tokens, or from the last one to the end: who gives up during the pause sees no token more."""
    gaps = [later - earlier for earlier, later in pairwise((*seen.tokens, seen.end))]
    return max(gaps, default=None)
