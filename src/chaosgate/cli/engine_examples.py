"""Prompts that show what the embedded model can do, one for each task."""

from __future__ import annotations

from random import Random
from typing import Final

from chaosgate.prompts.tasks import Exchange, Task

SIZE: Final = 3
"""Of an example: one that fits into a line."""


def example(task: Task, random: Random) -> Exchange:
    """A fresh exchange of `task`, of SIZE where the task has it."""
    return task.draw(random, min(max(SIZE, task.sizes[0]), task.sizes[-1]))


def escaped(text: str) -> str:
    """`text` in one line, as it can be typed again."""
    return text.replace("\n", "\\n")
