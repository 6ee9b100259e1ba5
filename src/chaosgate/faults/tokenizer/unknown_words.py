"""tokenizer.unknown-words: words that no vocabulary has."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.tokenizer.asking import TokenizerFault, with_replaced
from chaosgate.model.counter_noise import drawn_below
from chaosgate.model.fault import FAULTS, Sweep
from chaosgate.units import Share

SHORTEST, LONGEST = 6, 12
"""Characters of a word that is put in."""

_RARE = "qxzjkvwQXZJKVW"
_ALPHABETS = {
    "letters": _RARE,
    "emoji": "".join(map(chr, range(0x1F900, 0x1F980))),
    "spliced": _RARE + "0123456789'_-./",
}
_WORDS = re.compile(r"(\w+)")


@FAULTS.register("tokenizer.unknown-words")
class UnknownWords(TokenizerFault):
    """Words outside the vocabulary: a share of words is replaced by strings that fall apart into many tokens."""

    kind: Literal["tokenizer.unknown-words"]
    form: Literal["letters", "emoji", "spliced"] = "letters"
    """`letters`: rare letters in a row; `emoji`: pictographs; `spliced`: letters, digits and signs glued together,
    which the regular expressions of GPT-2's and later tokenizers tear apart before they look anything up."""
    dose: Sweep[Literal["share"], Share]
    """`share` is the share of a prompt's words that are replaced."""

    max_dose: ClassVar[float] = 1.0

    def edited(self, text: str, dose: float, draw: Draw) -> str:
        """`text` with the share `dose` of its words replaced; what stands between words is kept."""
        pieces = _WORDS.split(text)
        words = self._words(len(pieces) // 2, draw)
        return with_replaced(pieces, _is_word, lambda _, number: words(number), dose, draw)

    def _words(self, count: int, draw: Draw) -> Callable[[int], str]:
        """A word by its number below `count`."""
        # From arrays, since a long prompt has so many words that single draws would hold up every other request.
        alphabet = _ALPHABETS[self.form]
        lengths = SHORTEST + drawn_below(LONGEST - SHORTEST + 1, count, draw, "length")
        letters = [drawn_below(len(alphabet), count, draw, f"letter.{place}") for place in range(LONGEST)]
        return lambda number: "".join(alphabet[place[number]] for place in letters[: lengths[number]])


def _is_word(piece: str) -> bool:
    return _WORDS.fullmatch(piece) is not None
