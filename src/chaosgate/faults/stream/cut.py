"""stream.cut: some streams end in the middle of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.model.fault import FAULTS, Sweep, WireFault, Witness
from chaosgate.model.observation import Observation
from chaosgate.model.stream_edit import Break, Finish, Step, StreamEditor, StreamEvent
from chaosgate.sse import DONE_EVENT
from chaosgate.units import Share


@FAULTS.register("stream.cut")
class StreamCut(WireFault):
    """A connection lost while tokens flow: a share of streams is closed after some events."""

    kind: Literal["stream.cut"]
    after: Annotated[int, Field(ge=0, le=100_000)] = 2
    """Data events passed on before the stream is closed."""
    marker: bool = False
    """Send the final `[DONE]` before closing: a client then takes the short answer for a whole one."""
    dose: Sweep[Literal["probability"], Share]

    max_dose: ClassVar[float] = 1.0

    def editor(self, dose: float, draw: Draw) -> StreamEditor | None:
        """A cut for the share `dose` of streams; those hit at a low dose are hit at a higher one too."""
        return CutAfter(self.after, self.marker) if draw.at("hit") < dose else None

    def witness(self, dose: float) -> Witness:
        """The client misses the end of its stream, or gets fewer tokens where the marker hides it."""
        rise, after = self.least_rise(dose), self.after
        if self.marker:
            return Witness("share of short answers", "share", rise, lambda seen: float(len(seen.tokens) <= after))
        return Witness("share of streams without their end", "share", rise, _cut)


class CutAfter(StreamEditor):
    """Passes on so many data events; what comes after the last of them is cut off, comments before it are not."""

    def __init__(self, after: int, marker: bool) -> None:
        self._after = after
        self._marker = marker

    def event(self, event: StreamEvent) -> Sequence[Step]:
        """The event as it is, or the end of the stream."""
        # With the marker a stream that is at its own [DONE] loses nothing.
        if event.data is None or event.number < self._after or (self._marker and event.done):
            return (event.raw,)
        self.effect = f"cut after {self._after} events" + (" with [DONE]" if self._marker else "")
        return (DONE_EVENT, Finish()) if self._marker else (Break(),)


def _cut(seen: Observation) -> float:
    return float(seen.outcome == "cut")
