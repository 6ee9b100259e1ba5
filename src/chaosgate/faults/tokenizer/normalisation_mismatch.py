"""tokenizer.normalisation-mismatch: characters in another Unicode form than those around them."""

from __future__ import annotations

import unicodedata
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.tokenizer.asking import TokenizerFault, with_replaced
from chaosgate.model.fault import FAULTS, Sweep
from chaosgate.units import Share

_FULL_WIDTH = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}
"""The full-width form of each visible ASCII character, U+FF01 to U+FF5E, which NFKC folds back (UAX #15)."""


@FAULTS.register("tokenizer.normalisation-mismatch")
class NormalisationMismatch(TokenizerFault):
    """Text of mixed Unicode forms: a share of characters is not in the form in which the rest is written.

    A reader sees no difference, or hardly one, and a tokenizer that does not normalise sees other tokens.
    """

    kind: Literal["tokenizer.normalisation-mismatch"]
    form: Literal["nfd", "full-width"] = "nfd"
    """`nfd`: characters such as é are decomposed; a prompt without any, such as one in ASCII, is left as it is.
    `full-width`: visible ASCII characters become their full-width forms, which only NFKC and NFKD take for equal."""
    dose: Sweep[Literal["share"], Share]
    """`share` is the share of those characters of a prompt that have the other form."""

    max_dose: ClassVar[float] = 1.0

    def edited(self, text: str, dose: float, draw: Draw) -> str:
        """`text` with the share `dose` of its characters in the other form."""
        form = _decomposed if self.form == "nfd" else _widened
        return with_replaced(text, lambda one: form(one) != one, lambda one, _: form(one), dose, draw)

    @property
    def unless(self) -> str:
        """What may keep the effect away, for whoever reads that it was not seen."""
        return f"a prompt without a character that has another form ({self.form}), or a server that normalises"


def _decomposed(character: str) -> str:
    return unicodedata.normalize("NFD", character)


def _widened(character: str) -> str:
    return character.translate(_FULL_WIDTH)
