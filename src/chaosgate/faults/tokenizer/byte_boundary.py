"""tokenizer.byte-boundary: characters of several bytes that were cut in their middle."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.tokenizer.asking import TokenizerFault, with_replaced
from chaosgate.model.counter_noise import drawn
from chaosgate.model.fault import FAULTS, Sweep
from chaosgate.units import Share

_NO_BREAK_SPACE = "\u00a0"


@FAULTS.register("tokenizer.byte-boundary")
class ByteBoundary(TokenizerFault):
    """Characters cut across byte-level pieces: a share of those of several bytes arrives as what is left of halves.

    A request is JSON and so is valid Unicode: what can arrive is what a sender makes of the halves it decoded one by
    one, U+FFFD for each (The Unicode Standard, 3.9), or what it reads when it takes bytes for characters (Latin-1).
    """

    kind: Literal["tokenizer.byte-boundary"]
    form: Literal["replaced", "misread"] = "replaced"
    """`replaced`: é becomes two U+FFFD; `misread`: it becomes Ã©."""
    pasted: bool = False
    """First write every space as U+00A0, two bytes long, as text copied from web pages has it. A prompt in ASCII has
    no other character that could be cut, and is left as it is without this."""
    dose: Sweep[Literal["share"], Share]
    """`share` is the share of the characters of several bytes that are cut."""

    max_dose: ClassVar[float] = 1.0

    def edited(self, text: str, dose: float, draw: Draw) -> str:
        """`text` with the share `dose` of its characters of several bytes cut."""
        cuts = drawn(len(text), draw, "cut")
        return with_replaced(text, self._may, lambda one, number: self._cut(one, float(cuts[number])), dose, draw)

    def _may(self, character: str) -> bool:
        return not character.isascii() or (self.pasted and character == " ")

    def _cut(self, character: str, at: float) -> str:
        """What is left of `character` once it is cut `at` a part of its bytes, from 0 to 1."""
        data = (_NO_BREAK_SPACE if character == " " else character).encode("utf-8", "replace")
        if self.form == "misread":
            return data.decode("latin-1")
        place = 1 + int(at * (len(data) - 1))
        return data[:place].decode("utf-8", "replace") + data[place:].decode("utf-8", "replace")

    @property
    def unless(self) -> str:
        """What may keep the effect away, for whoever reads that it was not seen."""
        return "a prompt without a character of several bytes, or a model that bears what is left of one"
