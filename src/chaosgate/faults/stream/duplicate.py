"""stream.duplicate: some tokens of the answer come twice."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.stream.tokens import TokenEditor
from chaosgate.model.fault import FAULTS, AnswerWitness, Sweep, WireFault
from chaosgate.model.stream_edit import Step, StreamEditor, StreamEvent
from chaosgate.units import Share


@FAULTS.register("stream.duplicate")
class StreamDuplicate(WireFault):
    """A proxy that sends again what it was not sure of: each event that adds text comes twice with some probability."""

    kind: Literal["stream.duplicate"]
    dose: Sweep[Literal["share"], Share]

    max_dose: ClassVar[float] = 1.0

    def editor(self, dose: float, draw: Draw) -> StreamEditor:
        """Doubles the share `dose` of the tokens; those doubled at a low dose are doubled at a higher one too."""
        return DoubleTokens(dose, draw)

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline; half of what an answer of one token shows must show."""
        return AnswerWitness(self.least_rise(dose), "an answer without text has nothing to double")


class DoubleTokens(TokenEditor):
    """Sends the event of each token that is hit once more, byte for byte."""

    def event(self, event: StreamEvent) -> Sequence[Step]:
        """The event once or twice."""
        if not event.text or not self.hit(event.number):
            return (event.raw,)
        self.note("doubled")
        # A byte order mark is one at the beginning of a stream only.
        return event.raw, event.raw.removeprefix(BOM_UTF8)
