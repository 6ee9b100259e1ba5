"""session.interrupt: a session ends between two turns, and the next one knows nothing of what was said."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.prompt.rewriting import HEEDED, instructs, is_plain
from chaosgate.model.fault import FAULTS, AnswerWitness, Sweep, WireFault
from chaosgate.model.prompt_text import PromptText
from chaosgate.units import Share


@FAULTS.register("session.interrupt")
class SessionInterrupt(WireFault):
    """A session store that lost an entry: a share of requests arrives with its system prompt and last user turn alone.

    Calls of tools since that turn are gone, too. A plain completion has no session.
    """

    kind: Literal["session.interrupt"]
    dose: Sweep[Literal["probability"], Share]

    max_dose: ClassVar[float] = 1.0

    def rewrite(self, prompt: PromptText, dose: float, draw: Draw) -> PromptText:
        """The question alone for the share `dose` of requests; those hit at a low dose are hit at a higher one too."""
        if draw.at("hit") >= dose or is_plain(prompt):
            return prompt
        asking = prompt.last
        kept = (turn for index, turn in enumerate(prompt.turns) if instructs(turn) or index == asking)
        return PromptText(tuple(kept))

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline: to one in ten of the requests that were hit."""
        unless = "a question may need nothing of its history, or have none"
        return AnswerWitness(HEEDED * dose * self.exposure(), unless)
