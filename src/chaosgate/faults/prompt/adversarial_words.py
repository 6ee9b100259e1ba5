"""prompt.adversarial-words: words of the question give way to others that look the same to people, not to a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.prompt.rewriting import DIFFERING, with_questions
from chaosgate.model.counter_noise import drawn
from chaosgate.model.fault import FAULTS, AnswerWitness, Sweep, WireFault
from chaosgate.model.prompt_text import PromptText
from chaosgate.units import Share

Attack = Literal["swap", "homoglyph", "leet", "drop"]

_WORD = re.compile(r"([^\W\d_]+)")
_LATIN = "aceijopsxyABCEHIJKMOPSTX"
_CYRILLIC = (
    "\u0430\u0441\u0435\u0456\u0458\u043e\u0440\u0455\u0445\u0443"
    "\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u041e\u0420\u0405\u0422\u0425"
)
_HOMOGLYPHS = str.maketrans(_LATIN, _CYRILLIC)
"""Latin letters and the Cyrillic ones that Unicode lists as confusable with them (UTS #39, confusables.txt)."""
_LEET = str.maketrans("aeiostAEIOST", "431057431057")


@FAULTS.register("prompt.adversarial-words")
class AdversarialWords(WireFault):
    """Words that were tampered with, or mistyped: a share of the words of the question is changed by `attack`.

    `swap` and `drop` change one place of a word, drawn (Gao, Lanchantin, Soffa & Qi, "Black-box Generation of
    Adversarial Text Sequences to Evade Deep Learning Classifiers", 2018). `homoglyph` puts Cyrillic letters for Latin
    ones that look the same (Boucher, Shumailov, Anderson & Papernot, "Bad Characters", 2022), `leet` digits for
    letters. A word is a run of letters of the last user turn, or of a plain prompt; one without a letter that its
    attack can change, and a single letter that would be swapped or dropped, stays.
    """

    kind: Literal["prompt.adversarial-words"]
    attack: Attack = "swap"
    """What is done to a word: swap two neighbours, look-alike letters, digits for letters, or drop a letter."""
    dose: Sweep[Literal["share"], Share]

    max_dose: ClassVar[float] = 1.0

    def rewrite(self, prompt: PromptText, dose: float, draw: Draw) -> PromptText:
        """The question with the share `dose` of its words changed; those hit at a low dose are at a higher one too."""
        return with_questions(prompt, lambda text: self._attacked(text, dose, draw))

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline: two in a hundred of those touched, at least."""
        return AnswerWitness(DIFFERING * self.exposure(), "a model may read past misspelt words")

    def _attacked(self, text: str, dose: float, draw: Draw) -> str:
        pieces = _WORD.split(text)  # what is no word, a word, what is no word, and so on
        # Draws by the word's number from arrays, since a long prompt has millions of words.
        hits, places = (drawn(len(pieces) // 2, draw, site) for site in ("word", "place"))
        change = _ATTACKS[self.attack]
        for number in (hits < dose).nonzero()[0]:
            pieces[2 * number + 1] = change(pieces[2 * number + 1], float(places[number]))
        return "".join(pieces)


def _swap(word: str, place: float) -> str:
    """`word` with two neighbours swapped; the same where they are equal or there is one letter."""
    at = int(place * (len(word) - 1))
    return word[:at] + word[at : at + 2][::-1] + word[at + 2 :]


def _drop(word: str, place: float) -> str:
    at = int(place * len(word))
    return word[:at] + word[at + 1 :] if len(word) > 1 else word


_ATTACKS: Mapping[Attack, Callable[[str, float], str]] = {
    "swap": _swap,
    "homoglyph": lambda word, _: word.translate(_HOMOGLYPHS),
    "leet": lambda word, _: word.translate(_LEET),
    "drop": _drop,
}
