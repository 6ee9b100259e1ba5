"""standard-refusal: what may not be asked is answered with one fixed sentence."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from chaosgate.filters.phrases import folded, untrusted
from chaosgate.model.filter import FILTERS, Answered, Asked, Filter

Phrase = Annotated[str, Field(min_length=1)]
SENTENCE = "I can't help with that."


@FILTERS.register("standard-refusal")
class StandardRefusal(Filter):
    """A fixed answer in the place of the model's, for requests that hold a phrase of a list or an attack.

    Phrases are looked for in every turn but those of the system and the assistant, whatever the case of their letters,
    invisible characters and compatibility forms (NFKC). A sanitiser before it takes an attack out, and says that it
    found one.
    """

    kind: Literal["standard-refusal"]
    text: Annotated[str, Field(min_length=1)] = SENTENCE
    """The answer."""
    deny: tuple[Phrase, ...] = ()
    """Phrases that may not stand in a prompt."""
    attacks: bool = True
    """Answer so, too, where a sanitiser before this filter took an attack out of the prompt."""

    def check(self, asked: Asked) -> Answered | None:
        """The fixed answer where something was found."""
        if self.attacks and (attack := next((one for one in asked.found if one.attack), None)):
            return Answered(self.text, f"{attack.filter} found an attack")
        if asked.prompt is None or not self.deny:
            return None
        for index in untrusted(asked.prompt):
            text = folded(asked.prompt.turns[index].text)
            if phrase := next((one for one in self.deny if folded(one) in text), None):
                return Answered(self.text, f"{phrase!r} stands in the prompt")
        return None
