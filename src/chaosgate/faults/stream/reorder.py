"""stream.reorder: neighbouring tokens of the answer change places."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.stream.tokens import TokenEditor
from chaosgate.model.fault import FAULTS, AnswerWitness, Sweep, WireFault
from chaosgate.model.stream_edit import Step, StreamEditor, StreamEvent, first_choice
from chaosgate.units import Share


@FAULTS.register("stream.reorder")
class StreamReorder(WireFault):
    """Events that overtake each other: of each two events of text in a row, the second comes first at some probability.

    Tokens are taken in pairs, the first with the second, the third with the fourth. Finish reason, usage figures and
    the final `[DONE]` stay behind all text.
    """

    kind: Literal["stream.reorder"]
    dose: Sweep[Literal["share"], Share]

    max_dose: ClassVar[float] = 1.0

    def editor(self, dose: float, draw: Draw) -> StreamEditor:
        """Turns the share `dose` of the pairs round; those turned at a low dose are turned at a higher one too."""
        return SwapTokens(dose, draw)

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline; half of what an answer of one pair shows must show."""
        return AnswerWitness(self.least_rise(dose), "tokens that are alike, or single ones, have nothing to change")


class SwapTokens(TokenEditor):
    """Holds the first token of a pair that is hit until the second one has passed. Comments never wait."""

    def __init__(self, share: float, draw: Draw) -> None:
        super().__init__(share, draw)
        self._tokens = 0
        self._held: list[bytes] = []

    def event(self, event: StreamEvent) -> Sequence[Step]:
        """The event, preceded or followed by what was held, or nothing yet."""
        if event.data is None:
            # Keep-alives: who waits long for the second token lives off them.
            return (event.raw,)
        if not event.text or first_choice(event.chunk).get("finish_reason") is not None:
            return (*self.end(), event.raw)
        pair, second = divmod(self._tokens, 2)
        self._tokens += 1
        if self._held:
            return self._swap(event)
        return (event.raw,) if second or not self.hit(pair) else self._hold(event)

    def end(self) -> Sequence[Step]:
        """What was held for a second token that did not come."""
        held, self._held = self._held, []
        return held

    def _hold(self, event: StreamEvent) -> Sequence[Step]:
        token = event.raw.removeprefix(BOM_UTF8)
        self._held.append(token)
        # A byte order mark is one at the beginning of a stream only.
        return () if token == event.raw else (BOM_UTF8,)

    def _swap(self, event: StreamEvent) -> Sequence[Step]:
        (first,) = self.end()
        if event.raw != first:
            self.note("overtaken")
        return event.raw, first
