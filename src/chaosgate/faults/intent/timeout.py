"""intent.timeout: intent recognition, which says how a request is to be answered, does not answer in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.faults.prompt.rewriting import instructs, with_questions
from chaosgate.faults.wire.first_token import later_first_token
from chaosgate.model.fault import FAULTS, Delay, Effect, Sweep, WireFault, Witness
from chaosgate.model.prompt_text import PromptText
from chaosgate.units import Duration, Share


@FAULTS.register("intent.timeout")
class IntentTimeout(WireFault):
    """Intent recognition that hangs: a share of requests waits for `patience` and goes on without its instructions.

    Those are the system and developer turns. Where there are none, the first line of the last user turn, or of each
    plain prompt, is taken for them; a question of one line stays, and only waits.
    """

    kind: Literal["intent.timeout"]
    patience: Annotated[Duration, Field(gt=0, le=60)] = 0.8
    """How long the request waits for its intent."""
    dose: Sweep[Literal["probability"], Share]

    max_dose: ClassVar[float] = 1.0

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """The wait, for the share `dose` of requests; those hit at a low dose are hit at a higher one too."""
        return (Delay(self.patience),) if draw.at("hit") < dose else ()

    def rewrite(self, prompt: PromptText, dose: float, draw: Draw) -> PromptText:
        """The prompt of a request that waited, without its instructions."""
        if draw.at("hit") >= dose:
            return prompt
        asking = prompt.last
        kept = tuple(turn for index, turn in enumerate(prompt.turns) if index == asking or not instructs(turn))
        return PromptText(kept) if len(kept) < len(prompt.turns) else with_questions(prompt, _without_first_line)

    def witness(self, dose: float) -> Witness:
        """The client waits longer for its first token; half of the planned waits must show in the mean."""
        return later_first_token(self.least_rise(dose) * self.patience)


def _without_first_line(text: str) -> str:
    """`text` after its first line that is not empty; the same where nothing follows it."""
    _, _, rest = text.lstrip().partition("\n")
    return rest if rest.strip() else text
