"""context.truncate: the oldest turns of a conversation are lost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.prompt.rewriting import DIFFERING, instructs, is_plain
from chaosgate.model.fault import FAULTS, AnswerWitness, Sweep, WireFault
from chaosgate.model.prompt_text import PromptText, Turn
from chaosgate.units import Share

_RESULTS = frozenset({"tool", "function"})


@FAULTS.register("context.truncate")
class ContextTruncate(WireFault):
    """A context window that ran over: the oldest turns go, up to `share` of the characters of the history.

    The history is what stands before the last user turn; system and developer turns are no part of it and stay. Turns
    go whole, and a tool's result with the call that it answers, since servers refuse one without the other. A plain
    completion has no history.
    """

    kind: Literal["context.truncate"]
    dose: Sweep[Literal["share"], Share]

    max_dose: ClassVar[float] = 1.0

    def rewrite(self, prompt: PromptText, dose: float, draw: Draw) -> PromptText:
        """The conversation without its oldest turns; what is gone at a low dose is gone at a higher one."""
        if is_plain(prompt):
            return prompt
        history = [index for index, turn in enumerate(prompt.turns[: prompt.last]) if not instructs(turn)]
        lost = _lost([prompt.turns[index] for index in history], dose)
        gone = frozenset(history[:lost])
        return PromptText(tuple(turn for index, turn in enumerate(prompt.turns) if index not in gone))

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline: two in a hundred of those touched, at least."""
        unless = "a question may need nothing of what was lost, or have no history"
        return AnswerWitness(DIFFERING * self.exposure(), unless)


def _lost(history: Sequence[Turn], share: float) -> int:
    """How many of the oldest turns go: as many as fit into `share` of all characters."""
    sizes = list(accumulate(len(turn.text) for turn in history))
    room = round(share * sizes[-1]) if sizes else 0
    fitting = [0, *(count for count, size in enumerate(sizes, 1) if 0 < size <= room and _ends(history, count))]
    return fitting[-1]


def _ends(history: Sequence[Turn], count: int) -> bool:
    """Whether no result of a tool follows the first `count` turns."""
    return count == len(history) or history[count].role not in _RESULTS
