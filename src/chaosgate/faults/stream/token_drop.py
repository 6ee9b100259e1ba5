"""stream.token-drop: some tokens of the answer never arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.stream.tokens import TokenEditor
from chaosgate.model.fault import FAULTS, AnswerWitness, Sweep, WireFault
from chaosgate.model.stream_edit import Step, StreamEditor, StreamEvent, first_choice, with_text
from chaosgate.units import Share


@FAULTS.register("stream.token-drop")
class TokenDrop(WireFault):
    """A stream with holes: each event that adds text is dropped with the same probability, and the rest goes on."""

    kind: Literal["stream.token-drop"]
    dose: Sweep[Literal["share"], Share]

    max_dose: ClassVar[float] = 1.0

    def editor(self, dose: float, draw: Draw) -> StreamEditor:
        """Drops the share `dose` of the tokens; those dropped at a low dose are dropped at a higher one too."""
        return DropTokens(dose, draw)

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline; half of what an answer of one token shows must show."""
        return AnswerWitness(self.least_rise(dose), "an answer without text has nothing to drop")


class DropTokens(TokenEditor):
    """Drops the text of each token that is hit, and its whole event where that says nothing else."""

    def event(self, event: StreamEvent) -> Sequence[Step]:
        """The event as it is, without its text, or not at all."""
        if not event.text or not self.hit(event.number):
            return (event.raw,)
        self.note("dropped")
        # vLLM ends an answer in the event of its last token: the end has to arrive all the same.
        return (with_text(event, ""),) if _says_more(event) else ()


def _says_more(event: StreamEvent) -> bool:
    """Whether the event has more than text: a finish reason, usage figures, a role, a call of a tool."""
    choice = first_choice(event.chunk)
    delta = choice.get("delta")
    others = [value for key, value in delta.items() if key != "content"] if isinstance(delta, Mapping) else []
    return any((choice.get("finish_reason"), (event.chunk or {}).get("usage"), *others))
