"""prompt.truncate: the end of the question is lost on the way."""

from __future__ import annotations

import unicodedata
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.prompt.rewriting import DIFFERING, with_questions
from chaosgate.model.fault import FAULTS, AnswerWitness, Sweep, WireFault
from chaosgate.model.prompt_text import PromptText
from chaosgate.units import Share

_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)


@FAULTS.register("prompt.truncate")
class PromptTruncate(WireFault):
    """A question cut short, as by a field that is too small: the last `share` of the last user turn's characters goes.

    Of plain completions each prompt is cut. Characters are Unicode code points, but a base character and what combines
    with it (accents, variation selectors, skin tones, emoji joined by U+200D) stay or go together. The first character
    stays, for servers refuse an empty question.
    """

    kind: Literal["prompt.truncate"]
    dose: Sweep[Literal["share"], Share]

    max_dose: ClassVar[float] = 1.0

    def rewrite(self, prompt: PromptText, dose: float, draw: Draw) -> PromptText:
        """The question without its end; what is cut at a low dose is cut at a higher one."""
        return with_questions(prompt, lambda text: text[: _cut_place(text, dose)])

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline: two in a hundred of those touched, at least."""
        return AnswerWitness(DIFFERING * self.exposure(), "a question may be clear without its last words")


def _cut_place(text: str, share: float) -> int:
    """How many characters of `text` stay: a base character with all its marks at least."""
    place = len(text) - round(share * len(text))
    while place > 0 and _continues(text, place):
        place -= 1
    place = max(place, min(1, len(text)))
    while _continues(text, place):
        place += 1
    return place


def _continues(text: str, place: int) -> bool:
    """Whether the character at `place` belongs to the one before it (after Unicode's UAX #29, rules GB9 to GB11)."""
    if not 0 < place < len(text):
        return False
    here = text[place]
    joined = _JOINER in (here, text[place - 1])
    return joined or ord(here) in _SKIN_TONES or unicodedata.category(here).startswith("M")
