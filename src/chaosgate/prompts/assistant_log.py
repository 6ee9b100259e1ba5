"""A log of an assistant: what it was asked, what it suggested, and whether its user took it.

The log is drawn, not collected. Whoever has a real one writes it in the same form.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from chaosgate.prompts.lines import read_prompts
from chaosgate.prompts.prompt import Prompt, Suggestion
from chaosgate.prompts.single_task import distinct, form_of

FILE = Path(__file__).parent / "data" / "assistant-log.jsonl"
"""The log that is shipped; `make generate` writes it."""
ROWS = 60
SIZES = {"recall": 16, "json": 8, "copy": 8, "capital": 1, "add": 1}
"""The tasks that the assistant was asked, and their sizes."""

# Nobody's measured rates: chosen so that every case occurs, a right suggestion that is refused and a wrong one that is
# taken, too.
_RIGHT, _RIGHT_TAKEN, _WRONG_TAKEN = 0.8, 0.85, 0.25


def assistant_log() -> tuple[Prompt, ...]:
    """Asks again what a log of an assistant holds: each prompt with what was suggested and whether its user took it.

    accept-rate is then the share of answers that the users of the log would take.
    """
    return read_prompts(FILE.read_bytes(), str(FILE))


def drawn_log() -> Iterator[Prompt]:
    """The log as it is drawn, the same on every machine: what `FILE` holds."""
    random = Random("assistant-log")
    exchanges = {task: distinct(task, size, random) for task, size in SIZES.items()}
    for number in range(ROWS):
        task = list(SIZES)[number % len(SIZES)]
        asked, other = next(exchanges[task]), next(exchanges[task])
        right = random.random() < _RIGHT
        taken = random.random() < (_RIGHT_TAKEN if right else _WRONG_TAKEN)
        # A wrong suggestion is the right answer to another question.
        suggestion = Suggestion((asked if right else other).answer, taken)
        yield Prompt(asked.prompt, asked.answer, form_of(task), suggestion=suggestion)
