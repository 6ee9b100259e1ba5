"""stream.cut: some streams end in the middle of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.model.fault import FAULTS, Cut, Effect, Sweep, WireFault, Witness
from chaosgate.model.observation import Observation
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

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """A cut for the share `dose` of streams; those hit at a low dose are hit at a higher one too."""
        return (Cut(self.after, self.marker),) if draw.at("hit") < dose else ()

    def witness(self, dose: float) -> Witness:
        """The client misses the end of its stream, or gets fewer tokens where the marker hides it."""
        rise, after = self.least_rise(dose), self.after
        if self.marker:
            return Witness("share of short answers", "share", rise, lambda seen: float(len(seen.tokens) <= after))
        return Witness("share of streams without their end", "share", rise, _cut)


def _cut(seen: Observation) -> float:
    return float(seen.outcome == "cut")
