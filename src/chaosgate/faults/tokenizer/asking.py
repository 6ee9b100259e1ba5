"""What the tokenizer's faults share: they edit the text that asks, and the client sees other answers or refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chaosgate.draws import Draw
from chaosgate.faults.prompt.rewriting import DIFFERING, with_questions
from chaosgate.model.counter_noise import drawn
from chaosgate.model.fault import AnswerWitness, WireFault
from chaosgate.model.observation import Sample
from chaosgate.model.prompt_text import PromptText


@dataclass(frozen=True)
class OtherOrRefused(AnswerWitness):
    """What shows that a prompt reached the tokenizer damaged: another answer than the clean one, or a refusal."""

    what: str = "share of requests with another answer than the clean one, or with none as they were refused"

    def value(self, sample: Sample) -> float | None:
        """1 for another text or an HTTP status of 4xx, 0 for the clean text; None where neither can be told."""
        status = sample.observation.status
        return 1.0 if status is not None and 400 <= status < 500 else super().value(sample)


class TokenizerFault(WireFault):
    """A fault in the text that asks, the last user turn or each plain prompt; every other turn is left as it is."""

    def rewrite(self, prompt: PromptText, dose: float, draw: Draw) -> PromptText:
        """`prompt` with the text that asks edited at `dose`."""
        return with_questions(prompt, lambda text: self.edited(text, dose, draw))

    def edited(self, text: str, dose: float, draw: Draw) -> str:
        """`text` as it is at `dose`; the same text at dose 0."""
        raise NotImplementedError(f"{type(self).__name__} must say what it does to a text")

    def witness(self, dose: float) -> OtherOrRefused:
        """The client gets other answers than in the baseline, or the request is refused."""
        return OtherOrRefused(DIFFERING * self.exposure(), self.unless)

    @property
    def unless(self) -> str:
        """What may keep the effect away, for whoever reads that it was not seen."""
        return "a server that normalises prompts, or a model that bears them, answers as ever"


def with_replaced(
    items: Sequence[str], may: Callable[[str], bool], put: Callable[[str, int], str], dose: float, draw: Draw
) -> str:
    """`items` joined, with `put` in the place of the share `dose` of those that `may` be replaced.

    Each is drawn by itself: those that are hit at a low dose are hit at a higher one. `put` is given an item and its
    number among those that may be replaced.
    """
    places = [index for index, item in enumerate(items) if may(item)]
    edited = list(items)
    for number in (drawn(len(places), draw, "hit") < dose).nonzero()[0]:
        edited[places[number]] = put(items[places[number]], int(number))
    return "".join(edited)
