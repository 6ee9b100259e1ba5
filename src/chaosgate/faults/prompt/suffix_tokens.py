"""prompt.suffix-tokens: a few words without a meaning of their own stand at the end of every prompt."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.prompt.rewriting import DIFFERING, with_questions
from chaosgate.model.fault import FAULTS, AnswerWitness, Sweep, WireFault
from chaosgate.model.prompt_text import PromptText

_COMMON = "the of and to in a is that for it as was with be by on at this from or an which but then so"
WORDS = tuple(_COMMON.split())
"""Among the commonest words of English: with the space before it each is one token for the usual tokenizers, and none
asks for anything."""


@FAULTS.register("prompt.suffix-tokens")
class SuffixTokens(WireFault):
    """Stray text behind the question: so many neutral words follow the last user turn, or each plain prompt.

    The usual trial is three to five. A prompt with more of them begins with the same ones as a prompt with fewer.
    """

    kind: Literal["prompt.suffix-tokens"]
    dose: Sweep[Literal["tokens"], int]

    max_dose: ClassVar[float] = 1000

    def rewrite(self, prompt: PromptText, dose: float, draw: Draw) -> PromptText:
        """The words after the question, each behind a space; `dose` of them."""
        drawn = (WORDS[int(draw.at(f"word {place}") * len(WORDS))] for place in range(int(dose)))
        suffix = "".join(f" {word}" for word in drawn)
        return with_questions(prompt, lambda text: text + suffix)

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline: two in a hundred of those touched, at least."""
        return AnswerWitness(DIFFERING * self.exposure(), "a model bears a few words that say nothing")
