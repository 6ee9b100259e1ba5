"""What all faults that rewrite prompts have in common: which turns instruct, which ask, and how a client notices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chaosgate.model.prompt_text import PLAIN, PromptText, Turn

INSTRUCTING = frozenset({"system", "developer"})
"""The roles whose turns say how to answer. OpenAI's newer models take `developer` for `system`."""

HEEDED = 0.1
"""Of the answers to requests that were hit, the share that must differ. No model has to heed what was slipped into its
prompt, and a short answer may stay the same; but where nine in ten stay the same, nothing shows that it was read."""

DIFFERING = 0.02
"""Of all answers, the share that must differ where every prompt is changed a little, as much as the dose says. Nobody
can tell beforehand how much a model bears, but answers that all stay the same show no effect."""


def instructs(turn: Turn) -> bool:
    """Whether `turn` is a system prompt, or part of one."""
    return turn.role in INSTRUCTING


def is_plain(prompt: PromptText) -> bool:
    """Whether `prompt` is of plain completions, each turn a prompt of its own, and no conversation."""
    return all(turn.role == PLAIN and turn.message is None for turn in prompt.turns)


def with_questions(prompt: PromptText, change: Callable[[str], str]) -> PromptText:
    """`prompt` with `change` made to the text that asks: the last user turn of a chat, every plain prompt."""
    asking = range(len(prompt.turns)) if is_plain(prompt) else (prompt.last,)
    changed = {index: replace(prompt.turns[index], text=change(prompt.turns[index].text)) for index in asking}
    return PromptText(tuple(changed.get(index, turn) for index, turn in enumerate(prompt.turns)))
