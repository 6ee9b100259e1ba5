"""tokenizer.combining-flood: code points that nobody sees, and that every tokenizer has to work through."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.tokenizer.asking import TokenizerFault
from chaosgate.model.fault import FAULTS, Sweep

PLACES = 16
"""Places in a text at which code points are added; UTS #39, 5.4 calls more than four marks in a row suspicious."""

_JOINERS = "\u200d\u200c"
_SELECTORS = "\ufe0f\ufe0e"
_MARKS = "".join(map(chr, range(0x0300, 0x0330)))
_FORMS = {"joiners": _JOINERS, "selectors": _SELECTORS, "marks": _MARKS, "mixed": _JOINERS + _SELECTORS + _MARKS}


@FAULTS.register("tokenizer.combining-flood")
class CombiningFlood(TokenizerFault):
    """A flood of joiners, variation selectors and combining marks: a prompt that looks the same and is far longer.

    They stand at drawn places of the text that asks, as in Boucher et al., Bad Characters (IEEE S&P 2022), and in
    "Zalgo" text. Each is two or three bytes, so that 50,000 make a prompt of more than 100,000 bytes.
    """

    kind: Literal["tokenizer.combining-flood"]
    form: Literal["joiners", "selectors", "marks", "mixed"] = "mixed"
    """What is added: zero-width joiners and non-joiners, the emoji variation selectors, combining marks, or all."""
    dose: Sweep[Literal["codePoints"], int]
    """`codePoints` is how many code points are added to a prompt."""

    max_dose: ClassVar[float] = 1_000_000.0

    def edited(self, text: str, dose: float, draw: Draw) -> str:
        """`text` with `dose` code points more. Those that a low dose adds are also added by a higher one."""
        places = sorted((int(draw.at(f"place.{number}") * (len(text) + 1)), number) for number in range(PLACES))
        pieces, start = [], 0
        for place, number in places:
            pieces += [text[start:place], self._flood(_dealt(int(dose), number))]
            start = place
        return "".join((*pieces, text[start:]))

    def _flood(self, count: int) -> str:
        alphabet = _FORMS[self.form]
        return (alphabet * (count // len(alphabet) + 1))[:count]

    @property
    def unless(self) -> str:
        """What may keep the effect away, for whoever reads that it was not seen."""
        return "a server that takes such characters out, or refuses nothing and bears them, answers as ever"


def _dealt(count: int, place: int) -> int:
    """How many of `count` code points fall to `place`: they are dealt out in turn."""
    return (count - place + PLACES - 1) // PLACES
