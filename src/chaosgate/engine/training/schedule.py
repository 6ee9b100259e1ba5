"""How training proceeds: how hard the documents are, and how fast the weights move.

Nothing here looks at a clock: the same seed takes the same steps on a slow machine as on a fast one.
"""

from __future__ import annotations

from dataclasses import dataclass

from chaosgate.engine.training.documents import EVEN, LOOK_UP, Difficulty, Mix

TOKENS_PER_STEP = 2048
WARM_UP = 100
DECAY_SHARE = 0.5
LAST_RATE = 0.02

LOOK_UP_STEPS = 1100
"""Steps with the mix `LOOK_UP`; those after them have `EVEN`."""

FIRST_FACTS = 4.0
MOST_FACTS = 48
LEARNED = 0.85
STEPS_APART = 25


@dataclass(frozen=True)
class Batch:
    """The shape of one step's documents."""

    rows: int
    length: int
    difficulty: Difficulty


LONG = {480: 0.8, 992: 0.92}
"""Document length -> where a uniform draw must lie for it, once the sizes have reached their ends. Long documents teach
the model to look far back; each also takes in more noise."""


class Curriculum:
    """Starts with few facts to choose from and adds more whenever the model recalls most of them.

    With many facts from the start the loss stays at that of guessing, for there is nothing to gain from a look-up that
    is almost never right. `facts` and the smoothed `recall` are its state.
    """

    def __init__(self) -> None:
        self.facts = FIRST_FACTS
        self.recall = 0.0
        self.changed = 0

    def batch(self, draw: float) -> Batch:
        """What the next step trains on; `draw` is uniform in [0, 1)."""
        facts = int(self.facts)
        copied = max(4, min(32, int(0.75 * facts) + 2))
        if facts == MOST_FACTS:
            for length in sorted(LONG, reverse=True):
                if draw >= LONG[length]:
                    return Batch(TOKENS_PER_STEP // length, length, Difficulty(facts, copied, noise=0.8))
        length = max(96, min(256, (6 * facts + 80) // 32 * 32))
        return Batch(TOKENS_PER_STEP // length, length, Difficulty(facts, copied))

    def observe(self, step: int, recall: float) -> None:
        """Takes in the share of right recalls at `step`, and makes the documents harder when it is time."""
        self.recall = 0.9 * self.recall + 0.1 * recall
        if self.facts < MOST_FACTS and self.recall > LEARNED and step - self.changed >= STEPS_APART:
            self.facts = min(MOST_FACTS, 1.5 * self.facts + 1)
            self.recall = 0.6
            self.changed = step


def mix_at(step: int) -> Mix:
    """What the turns at `step` are about."""
    return LOOK_UP if step < LOOK_UP_STEPS else EVEN


def rate_share(step: int, steps: int) -> float:
    """Share of the full learning rate at `step` of `steps`: linear warm-up, constant, linear decay."""
    left = (steps - step) / (DECAY_SHARE * steps)
    return min(1.0, (step + 1) / WARM_UP) * min(1.0, max(LAST_RATE, left))
